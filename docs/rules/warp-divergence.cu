// The threads of a warp add up lists whose lengths differ widely: it takes as long as the longest.
// launch: sums<<<32, 128>>>(float[262144], float[4096])
__global__ void sums(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int length = i % 32 == 0 ? 64 : 8;
  float sum = 0;
  for (int k = 0; k < length; ++k)
    sum += x[k * 4096 + i]; // expect-run: warp-divergence
  y[i] = sum;
}
