// The sum of 256 numbers per block, by halving: 128 threads add the upper half to the lower one, then 64 ...
//
// expect-anywhere: race-shared
// launch: sumBlocks<<<8, 256>>>(int[8]=uninitialized, int[2048])
__global__ void sumBlocks(int* sums, const int* x) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) s[t] += s[t + half];
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}
