// 64 fast Fourier transforms of 1024 points, one per block, in shared memory: the points are stored in
// bit-reversed order, and ten steps of 512 butterflies follow, each with a barrier.
#include <cmath>
#include <complex>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kPoints = 1024;
constexpr int kBits = 10;
constexpr int kBatch = 64;

__device__ int reversed(int i) {
  int r = 0;
  for (int bit = 0; bit < kBits; ++bit) r |= (i >> bit & 1) << (kBits - 1 - bit);
  return r;
}

__global__ void transform(const float2* in, float2* out) {
  __shared__ float2 points[kPoints];
  int t = threadIdx.x;
  const float2* mine = in + blockIdx.x * kPoints;
  points[reversed(t)] = mine[t]; // expect: bank-conflict
  points[reversed(t + kPoints / 2)] = mine[t + kPoints / 2]; // expect: bank-conflict
  __syncthreads();

  for (int half = 1; half < kPoints; half *= 2) {
    int k = t % half;
    int low = (t / half) * 2 * half + k;
    float angle = -3.14159265f * k / half;
    float c = cosf(angle), s = sinf(angle);
    float2 a = points[low], b = points[low + half];
    float2 turned = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    points[low] = make_float2(a.x + turned.x, a.y + turned.y);
    points[low + half] = make_float2(a.x - turned.x, a.y - turned.y);
    __syncthreads();
  }
  out[blockIdx.x * kPoints + t] = points[t];
  out[blockIdx.x * kPoints + t + kPoints / 2] = points[t + kPoints / 2];
}

static std::vector<std::complex<double>> transformOnHost(std::vector<std::complex<double>> x) {
  size_t n = x.size();
  if (n == 1) return x;
  std::vector<std::complex<double>> even(n / 2), odd(n / 2);
  for (size_t i = 0; i < n / 2; ++i) {
    even[i] = x[2 * i];
    odd[i] = x[2 * i + 1];
  }
  even = transformOnHost(even);
  odd = transformOnHost(odd);
  for (size_t k = 0; k < n / 2; ++k) {
    std::complex<double> turned = std::polar(1.0, -2.0 * 3.14159265358979 * k / n) * odd[k];
    x[k] = even[k] + turned;
    x[k + n / 2] = even[k] - turned;
  }
  return x;
}

int main() {
  std::vector<float2> in(kBatch * kPoints), out(kBatch * kPoints);
  unsigned state = 1;
  for (float2& point : in) {
    state = state * 1664525u + 1013904223u;
    point.x = float(state >> 20) / 4096 - 0.5f;
    point.y = float(state >> 8 & 4095) / 4096 - 0.5f;
  }

  float2 *din, *dout;
  cudaMalloc(&din, kBatch * kPoints * sizeof(float2));
  cudaMalloc(&dout, kBatch * kPoints * sizeof(float2));
  cudaMemcpy(din, in.data(), kBatch * kPoints * sizeof(float2), cudaMemcpyHostToDevice);
  transform<<<kBatch, kPoints / 2>>>(din, dout);
  cudaMemcpy(out.data(), dout, kBatch * kPoints * sizeof(float2), cudaMemcpyDeviceToHost);
  cudaFree(din);
  cudaFree(dout);

  int wrong = 0;
  for (int b = 0; b < kBatch; ++b) {
    std::vector<std::complex<double>> x(kPoints);
    for (int i = 0; i < kPoints; ++i) x[i] = {in[b * kPoints + i].x, in[b * kPoints + i].y};
    x = transformOnHost(x);
    for (int i = 0; i < kPoints; ++i) {
      std::complex<double> got(out[b * kPoints + i].x, out[b * kPoints + i].y);
      wrong += !(std::abs(got - x[i]) < 1e-3);
    }
  }
  printf("fft: %d of %d points wrong\n", wrong, kBatch * kPoints);
  return wrong == 0 ? 0 : 1;
}
