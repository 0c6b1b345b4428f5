// What a stride costs: `out[i] = a[i * stride] + b[i * stride]` with strides 1, 2, 4, 8 and 32. A warp's 32
// floats lie in 4, 8, 16 and then 32 sectors; beyond a stride of 8 each thread has a sector of its own, and
// it gets no worse.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kOut = 32768;
constexpr int kIn = kOut * 32;

__global__ void addStride1(const float* a, const float* b, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = a[i] + b[i]; // expect-efficiency: 100 // expect-sectors: 4
  out[i] = sum;            // expect-efficiency: 100
}

__global__ void addStride2(const float* a, const float* b, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = a[i * 2] + b[i * 2]; // expect-efficiency: 50 // expect-sectors: 8 // expect: uncoalesced
  out[i] = sum;                    // expect-efficiency: 100
}

__global__ void addStride4(const float* a, const float* b, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = a[i * 4] + b[i * 4]; // expect-efficiency: 25 // expect-sectors: 16 // expect: uncoalesced
  out[i] = sum;                    // expect-efficiency: 100
}

__global__ void addStride8(const float* a, const float* b, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int k = i * 8;
  float sum = a[k] + b[k]; // expect-efficiency: 12.5 // expect-sectors: 32 // expect: uncoalesced
  out[i] = sum;            // expect-efficiency: 100
}

__global__ void addStride32(const float* a, const float* b, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int k = i * 32;
  float sum = a[k] + b[k]; // expect-efficiency: 12.5 // expect-sectors: 32 // expect: uncoalesced
  out[i] = sum;            // expect-efficiency: 100
}

static int countWrong(const std::vector<float>& a, const std::vector<float>& b, const float* dout,
                      int stride) {
  std::vector<float> out(kOut);
  cudaMemcpy(out.data(), dout, kOut * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kOut; ++i) wrong += out[i] != a[i * stride] + b[i * stride];
  return wrong;
}

int main() {
  std::vector<float> a(kIn), b(kIn);
  for (int i = 0; i < kIn; ++i) {
    a[i] = float(i % 1000);
    b[i] = float(i % 77);
  }

  float *da, *db, *dout;
  cudaMalloc(&da, kIn * sizeof(float));
  cudaMalloc(&db, kIn * sizeof(float));
  cudaMalloc(&dout, kOut * sizeof(float));
  cudaMemcpy(da, a.data(), kIn * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), kIn * sizeof(float), cudaMemcpyHostToDevice);
  int wrong = 0;
  addStride1<<<kOut / 256, 256>>>(da, db, dout);
  wrong += countWrong(a, b, dout, 1);
  addStride2<<<kOut / 256, 256>>>(da, db, dout);
  wrong += countWrong(a, b, dout, 2);
  addStride4<<<kOut / 256, 256>>>(da, db, dout);
  wrong += countWrong(a, b, dout, 4);
  addStride8<<<kOut / 256, 256>>>(da, db, dout);
  wrong += countWrong(a, b, dout, 8);
  addStride32<<<kOut / 256, 256>>>(da, db, dout);
  wrong += countWrong(a, b, dout, 32);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dout);

  printf("add_experiment: %d of %d elements wrong\n", wrong, 5 * kOut);
  return wrong == 0 ? 0 : 1;
}
