// What CUDA answers to arguments that make no sense.
#include "check.h"

__global__ void nothing() {}

int main() {
  char *to, *from, host[64] = {};
  OK(cudaMalloc(&to, 64));
  OK(cudaMalloc(&from, 64));
  OK(cudaMemset(from, 0, 64));

  CHECK(cudaMemset2D(to, 8, 0, 16, 2) == cudaErrorInvalidValue); // rows longer than from one to the next
  OK(cudaMemset2D(to, 8, 0, 16, 1)); // of a single row the pitch does not matter
  OK(cudaMemset2D(to, 8, 0, 0, 2));
  CHECK(cudaMemcpy2D(to, 8, from, 16, 16, 2, cudaMemcpyDeviceToDevice) == cudaErrorInvalidPitchValue);
  CHECK(cudaMemcpy2D(to, 16, from, 8, 16, 1, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy2D(to, 8, host, 16, 16, 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy2DAsync(to, 16, host, 8, 16, 1, cudaMemcpyHostToDevice, nullptr) == cudaErrorInvalidValue);
  OK(cudaMemcpy2D(to, 16, from, 16, 16, 1, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy2D(to, 8, from, 8, 16, 0, cudaMemcpyDeviceToDevice));

  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, nothing));
  CHECK(cudaFuncGetAttributes(&attributes, (const void*)host) == cudaErrorInvalidResourceHandle);
  CHECK(cudaFuncGetAttributes(nullptr, (const void*)nothing) == cudaErrorInvalidValue);

  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessUnsupported);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceEnablePeerAccess(0, 1) == cudaErrorInvalidValue);
  OK((cudaGetLastError(), cudaDeviceSynchronize()));
  OK(cudaFree(to));
  OK(cudaFree(from));
  std::printf("PASS\n");
}
