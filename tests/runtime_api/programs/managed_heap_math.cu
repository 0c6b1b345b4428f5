// Managed variables, the device heap, registered host memory, and math functions that write through pointers: right
// programs, so nothing may be reported.
// expect-report: no findings
#include "check.h"
#include <cmath>

__managed__ int total = 7;
__managed__ float table[32];

__global__ void angles(float* sines, float* cosines, int* exponents) {
  int i = threadIdx.x;
  sincosf(0.1f * i, &sines[i], &cosines[i]);
  table[i] = frexpf(8.0f + i, &exponents[i]);
  if (i == 0) total += 3;
}
__global__ void take(int** slots) {
  int* own = static_cast<int*>(malloc(40));
  own[9] = int(threadIdx.x);
  slots[threadIdx.x] = own;
}
__global__ void give(int** slots, int* out) {
  out[threadIdx.x] = slots[threadIdx.x][9];
  free(slots[threadIdx.x]);
}
__global__ void triple(float* data) { data[threadIdx.x] *= 3; }

int main() {
  float *sines, *cosines, host[32];
  int *exponents, powers[32];
  OK(cudaMalloc(&sines, sizeof host));
  OK(cudaMalloc(&cosines, sizeof host));
  OK(cudaMalloc(&exponents, sizeof powers));
  total = 10;
  angles<<<1, 32>>>(sines, cosines, exponents);
  OK(cudaDeviceSynchronize());
  CHECK(total == 13 && table[8] == 0.5f);
  int copy = 0;
  OK(cudaMemcpyFromSymbol(&copy, total, sizeof copy));
  CHECK(copy == 13);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, table));
  CHECK(attributes.type == cudaMemoryTypeManaged);
  OK(cudaMemcpy(host, sines, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) CHECK(std::fabs(host[i] - std::sin(0.1f * i)) < 1e-6);
  OK(cudaMemcpy(host, cosines, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) CHECK(std::fabs(host[i] - std::cos(0.1f * i)) < 1e-6);
  OK(cudaMemcpy(powers, exponents, sizeof powers, cudaMemcpyDeviceToHost));
  CHECK(powers[0] == 4 && powers[8] == 5);

  int** slots;
  OK(cudaMalloc(&slots, 8 * sizeof(int*)));
  take<<<1, 8>>>(slots);
  give<<<1, 8>>>(slots, exponents);
  OK(cudaMemcpy(powers, exponents, 8 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i) CHECK(powers[i] == i);

  for (int i = 0; i < 32; ++i) host[i] = float(i);
  OK(cudaHostRegister(host, sizeof host, cudaHostRegisterDefault));
  float* mapped;
  OK(cudaHostGetDevicePointer(&mapped, host, 0));
  triple<<<1, 32>>>(mapped);
  OK(cudaDeviceSynchronize());
  CHECK(host[31] == 93);
  OK(cudaHostUnregister(host));
  CHECK(cudaHostUnregister(host) == cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();
  OK(cudaFree(sines));
  OK(cudaFree(cosines));
  OK(cudaFree(exponents));
  OK(cudaFree(slots));
  std::printf("PASS\n");
}
