// What misalignment costs: `out[i] = a[i + offset]` with offsets 0, 1, 8 and 33. Eight floats are a sector: a
// warp that starts on a sector moves 4 of them, any other moves 5.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kOut = 32768;
constexpr int kIn = kOut + 33;

__global__ void copyOffset0(const float* a, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = a[i]; // expect-sectors: 4 // expect-efficiency: 100
  out[i] = value;     // expect-efficiency: 100
}

__global__ void copyOffset1(const float* a, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = a[i + 1]; // expect-sectors: 5 // expect-efficiency: 80
  out[i] = value;         // expect-efficiency: 100
}

__global__ void copyOffset8(const float* a, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = a[i + 8]; // expect-sectors: 4 // expect-efficiency: 100
  out[i] = value;         // expect-efficiency: 100
}

__global__ void copyOffset33(const float* a, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = a[i + 33]; // expect-sectors: 5 // expect-efficiency: 80
  out[i] = value;          // expect-efficiency: 100
}

static int countWrong(const std::vector<float>& a, const float* dout, int offset) {
  std::vector<float> out(kOut);
  cudaMemcpy(out.data(), dout, kOut * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kOut; ++i) wrong += out[i] != a[i + offset];
  return wrong;
}

int main() {
  std::vector<float> a(kIn);
  for (int i = 0; i < kIn; ++i) a[i] = float(i);

  float *da, *dout;
  cudaMalloc(&da, kIn * sizeof(float));
  cudaMalloc(&dout, kOut * sizeof(float));
  cudaMemcpy(da, a.data(), kIn * sizeof(float), cudaMemcpyHostToDevice);
  int wrong = 0;
  copyOffset0<<<kOut / 256, 256>>>(da, dout);
  wrong += countWrong(a, dout, 0);
  copyOffset1<<<kOut / 256, 256>>>(da, dout);
  wrong += countWrong(a, dout, 1);
  copyOffset8<<<kOut / 256, 256>>>(da, dout);
  wrong += countWrong(a, dout, 8);
  copyOffset33<<<kOut / 256, 256>>>(da, dout);
  wrong += countWrong(a, dout, 33);
  cudaFree(da);
  cudaFree(dout);

  printf("offset_copy: %d of %d elements wrong\n", wrong, 4 * kOut);
  return wrong == 0 ? 0 : 1;
}
