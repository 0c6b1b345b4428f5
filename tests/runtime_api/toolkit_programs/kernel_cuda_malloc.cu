// cudaMalloc and cudaFree in a kernel: the same heap as malloc's.
// expect-report: no findings
#include "../programs/check.h"

__global__ void lists(int* sums, int n) {
  int* list;
  if (cudaMalloc(&list, n * sizeof(int)) != cudaSuccess) {
    sums[threadIdx.x] = -1;
    return;
  }
  for (int i = 0; i < n; ++i) list[i] = i;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += list[i];
  sums[threadIdx.x] = sum;
  cudaFree(list);
}

int main() {
  int* sums;
  OK(cudaMallocManaged(&sums, 32 * sizeof(int)));
  lists<<<1, 32>>>(sums, 10);
  OK(cudaDeviceSynchronize());
  CHECK(sums[31] == 45);
  lists<<<1, 32>>>(sums, 1 << 29);
  OK(cudaDeviceSynchronize());
  CHECK(sums[0] == -1);
  OK(cudaFree(sums));
  std::printf("PASS\n");
}
