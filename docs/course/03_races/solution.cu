// The largest of 10000 numbers, all of them positive.
// launch: largest<<<40, 256>>>(int[1]=zero, int[10000]=iota, 10000)
// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void largest(int* best, const int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(best, x[i]);
}
