// The largest of 10000 numbers, all of them positive. On most days it is even right.
// expect-anywhere: race-global
// launch: largest<<<40, 256>>>(int[1]=zero, int[10000]=iota, 10000)
__global__ void largest(int* best, const int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > *best) *best = x[i];
}
