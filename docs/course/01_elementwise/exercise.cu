// Zero suppression: samples of a waveform that stay under a threshold become 0.
// expect-anywhere: unwritten-output
// expect-anywhere: launch-coverage
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kSamples = 1000;
constexpr int kBlock = 128;

__global__ void suppress(int16_t* out, const int16_t* in, int16_t threshold) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] < threshold ? 0 : in[i];
}

int main() {
  const size_t bytes = kSamples * sizeof(int16_t);
  std::vector<int16_t> in(kSamples), out(kSamples);
  for (int i = 0; i < kSamples; ++i) in[i] = int16_t(i * 37 % 500);

  int16_t *din, *dout;
  cudaMalloc(&din, bytes);
  cudaMalloc(&dout, bytes);
  cudaMemcpy(din, in.data(), bytes, cudaMemcpyHostToDevice);
  suppress<<<kSamples / kBlock, kBlock>>>(dout, din, 100);
  cudaMemcpy(out.data(), dout, bytes, cudaMemcpyDeviceToHost);
  cudaFree(din);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < kSamples; ++i) wrong += out[i] != (in[i] < 100 ? 0 : in[i]);
  printf("%d of %d samples wrong\n", wrong, kSamples);
}
