// A digitised waveform of 16-bit samples: values below a threshold become zero. Two-byte accesses, one
// element per thread, and a warp still moves whole sectors.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kN = 100000;

// expect-proved: race-free, barriers-uniform, in-bounds
__global__ void zeroSuppress(const short* in, short* out, short threshold, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  short value = in[i];
  out[i] = value < threshold ? 0 : value;
}

int main() {
  std::vector<short> in(kN), out(kN);
  unsigned state = 1;
  for (int i = 0; i < kN; ++i) {
    state = state * 1664525u + 1013904223u;
    in[i] = short((state >> 20) % 200 - 50);
  }
  const short threshold = 20;

  short *din, *dout;
  cudaMalloc(&din, kN * sizeof(short));
  cudaMalloc(&dout, kN * sizeof(short));
  cudaMemcpy(din, in.data(), kN * sizeof(short), cudaMemcpyHostToDevice);
  zeroSuppress<<<(kN + 255) / 256, 256>>>(din, dout, threshold, kN);
  cudaMemcpy(out.data(), dout, kN * sizeof(short), cudaMemcpyDeviceToHost);
  cudaFree(din);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kN; ++i) wrong += out[i] != (in[i] < threshold ? 0 : in[i]);
  printf("zero_suppress: %d of %d elements wrong\n", wrong, kN);
  return wrong == 0 ? 0 : 1;
}
