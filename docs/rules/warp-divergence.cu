// Every second lane works, for long.
// launch: work<<<8, 128>>>(float[1024])
__global__ void work(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  if (i % 2 == 0)                                   // expect-later: warp-divergence
    for (int k = 0; k < 100; ++k) v = v * 0.5f + 1; // expect-later: warp-divergence
  x[i] = v;
}
