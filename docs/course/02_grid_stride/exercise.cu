// Adds the squares of an array to another, with 16 blocks of 64 threads for 20000 elements.
// expect-anywhere: race-global
// launch: addSquares<<<16, 64>>>(int[20000]=zero, int[20000], 20000)
__global__ void addSquares(int* sums, const int* x, int n) {
  int threads = gridDim.x * blockDim.x;
  for (int i = threadIdx.x; i < n; i += threads) sums[i] += x[i] * x[i];
}
