// __constant__ and __device__ variables: initial values, copies both ways, addresses and sizes.
// expect-status: 1
// expect-report: cudaMemcpyToSymbol writes 68 bytes of a variable that has 64, so it fails and copies nothing
#include "check.h"

__constant__ float coefficients[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ float table[16];

__global__ void use(float* out) {
  int i = threadIdx.x;
  out[i] = coefficients[i % 4] + table[i];
  if (i == 0) counter += 10;
}

int main() {
  float *out, host[16], values[16], changed[2] = {30, 40};
  OK(cudaMalloc(&out, sizeof host));
  for (int i = 0; i < 16; ++i) values[i] = float(100 * i);
  OK(cudaMemcpyToSymbol(table, values, sizeof values));
  OK(cudaMemcpyToSymbol(coefficients, changed, sizeof changed, 2 * sizeof(float)));
  use<<<1, 16>>>(out);
  OK(cudaGetLastError());
  OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  const float expected[4] = {1, 2, 30, 40};
  for (int i = 0; i < 16; ++i) CHECK(host[i] == expected[i % 4] + 100 * i);
  int count = 0;
  OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  CHECK(count == 15);
  void* address;
  size_t bytes;
  OK(cudaGetSymbolAddress(&address, table));
  OK(cudaGetSymbolSize(&bytes, table));
  CHECK(bytes == sizeof values);
  OK(cudaMemcpy(host, address, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(host[15] == 1500);
  CHECK(cudaMemcpyToSymbol(table, values, sizeof values + 4) == cudaErrorInvalidValue);
  cudaGetLastError();
  OK(cudaFree(out));
  std::printf("PASS\n");
}
