// The sum of 256 numbers per block, by halving: 128 threads add the upper half to the lower one, then 64 ...
//
// launch: sumBlocks<<<8, 256>>>(int[8]=uninitialized, int[2048])
// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void sumBlocks(int* sums, const int* x) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads(); // not inside the if: all threads meet here
    if (t < half) s[t] += s[t + half];
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}
