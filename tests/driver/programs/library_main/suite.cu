// A test suite whose main is in libgtest_main.
#include <gtest/gtest.h>

__global__ void fill(int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) x[i] = i;
}

TEST(Fill, fills) {
  const int n = 100;
  int *x, last = 0;
  cudaMalloc(&x, n * sizeof(int));
  fill<<<1, 128>>>(x, n);
  cudaMemcpy(&last, x + n - 1, sizeof last, cudaMemcpyDeviceToHost);
  EXPECT_EQ(last, n - 1);
  cudaFree(x);
}
