// CUDA's error behaviour: launch validation, last error, errors that stay and errors that go.
// expect-report: invalid-launch
// expect-report: there is no device 3 in this run
// expect-status: 1
#include "check.h"
#include <cstring>

__global__ void nothing() {}
__global__ void __launch_bounds__(64) bounded() {}
__global__ void shares() {
  extern __shared__ int words[];
  words[threadIdx.x] = 1;
}

__global__ void askew(char* bytes) { *reinterpret_cast<int*>(bytes + 1) = 1; }

int main() {
  OK(cudaGetLastError());
  nothing<<<1, 2048>>>();
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  OK(cudaGetLastError());
  OK(cudaDeviceSynchronize());
  nothing<<<0, 32>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  nothing<<<1, dim3(1, 1, 65)>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  bounded<<<1, 65>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  shares<<<1, 32, 50000>>>();
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(shares, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
  shares<<<1, 32, 50000>>>();
  OK(cudaGetLastError());
  CHECK(cudaFuncSetAttribute(shares, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CHECK(cudaSetDevice(3) == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  CHECK(cudaMemcpy(nullptr, nullptr, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaStreamSynchronize(cudaStream_t(0x1234)) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  CHECK(!std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
  CHECK(!std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"));
  char* bytes;
  OK(cudaMalloc(&bytes, 8));
  askew<<<1, 1>>>(bytes);
  CHECK(cudaDeviceSynchronize() == cudaErrorMisalignedAddress);
  CHECK(cudaGetLastError() == cudaErrorMisalignedAddress);
  OK(cudaFree(bytes));
  std::printf("PASS\n");
}
