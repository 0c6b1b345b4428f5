// A device variable and a device function that the other file's kernel uses.
#include "lib.h"

__device__ int counter = 0;

__device__ float polynomial(float x) {
  float result = 0;
  for (int i = 3; i >= 0; --i) result = result * x + float(i + 1);
  return result;
}

__global__ void count(const float *values, int n, float limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && values[i] > limit) COUNT;
}

void launchCount(const float *values, int n, float limit) { count<<<(n + 255) / 256, 256>>>(values, n, limit); }
