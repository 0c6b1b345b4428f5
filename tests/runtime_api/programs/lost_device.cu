// After an illegal access every call that needs the device fails until it is reset; the last error goes once it is read.
// expect-report: out-of-bounds
// expect-status: 1
#include "check.h"

__global__ void outside(int* p) { p[1ull << 40] = 1; }
__global__ void nothing() {}

int main() {
  int* p;
  OK(cudaMalloc(&p, 4));
  outside<<<1, 1>>>(p);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  OK(cudaGetLastError());
  nothing<<<1, 1>>>();
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  int* q;
  CHECK(cudaMalloc(&q, 4) == cudaErrorIllegalAddress);
  CHECK(cudaStreamQuery(0) == cudaErrorIllegalAddress);
  int number = -1;
  OK(cudaGetDeviceCount(&number));
  CHECK(number == 1);
  OK(cudaGetDevice(&number));
  CHECK(number == 0);
  cudaDeviceProp properties;
  OK(cudaGetDeviceProperties(&properties, 0));
  OK(cudaDeviceReset());
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  OK(cudaGetLastError());
  nothing<<<1, 1>>>();
  OK(cudaDeviceSynchronize());
  std::printf("PASS\n");
}
