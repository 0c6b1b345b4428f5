// What the two files share.
#pragma once
#include <cuda_runtime.h>

extern __device__ int counter;
__device__ float polynomial(float x);
void launchCount(const float* values, int n, float limit);
