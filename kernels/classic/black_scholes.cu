// Prices of 200000 European calls and puts after Black and Scholes, in a grid-stride loop; the normal
// distribution is approximated by a polynomial, on the device as on the host.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kOptions = 200000;
constexpr float kRate = 0.02f;
constexpr float kVolatility = 0.3f;

__host__ __device__ inline float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float sum =
      k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float upper = 0.39894228f * expf(-0.5f * d * d) * sum;
  return d > 0.0f ? 1.0f - upper : upper;
}

__host__ __device__ inline void price(float spot, float strike, float years, float* call, float* put) {
  float root = sqrtf(years);
  float d1 =
      (logf(spot / strike) + (kRate + 0.5f * kVolatility * kVolatility) * years) / (kVolatility * root);
  float d2 = d1 - kVolatility * root;
  float discounted = strike * expf(-kRate * years);
  *call = spot * normal(d1) - discounted * normal(d2);
  *put = discounted * (1.0f - normal(d2)) - spot * (1.0f - normal(d1));
}

__global__ void priceAll(const float* spots, const float* strikes, const float* years, float* calls,
                         float* puts, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    price(spots[i], strikes[i], years[i], &calls[i], &puts[i]);
}

int main() {
  std::vector<float> spots(kOptions), strikes(kOptions), years(kOptions), calls(kOptions), puts(kOptions);
  unsigned state = 1;
  auto random = [&state](float low, float high) {
    state = state * 1664525u + 1013904223u;
    return low + (high - low) * float(state >> 8) / (1u << 24);
  };
  for (int i = 0; i < kOptions; ++i) {
    spots[i] = random(5.0f, 30.0f);
    strikes[i] = random(1.0f, 100.0f);
    years[i] = random(0.25f, 10.0f);
  }

  const size_t bytes = kOptions * sizeof(float);
  float *dspots, *dstrikes, *dyears, *dcalls, *dputs;
  cudaMalloc(&dspots, bytes);
  cudaMalloc(&dstrikes, bytes);
  cudaMalloc(&dyears, bytes);
  cudaMalloc(&dcalls, bytes);
  cudaMalloc(&dputs, bytes);
  cudaMemcpy(dspots, spots.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(dstrikes, strikes.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(dyears, years.data(), bytes, cudaMemcpyHostToDevice);
  priceAll<<<128, 128>>>(dspots, dstrikes, dyears, dcalls, dputs, kOptions);
  cudaMemcpy(calls.data(), dcalls, bytes, cudaMemcpyDeviceToHost);
  cudaMemcpy(puts.data(), dputs, bytes, cudaMemcpyDeviceToHost);
  cudaFree(dspots);
  cudaFree(dstrikes);
  cudaFree(dyears);
  cudaFree(dcalls);
  cudaFree(dputs);

  int wrong = 0;
  for (int i = 0; i < kOptions; ++i) {
    float call, put;
    price(spots[i], strikes[i], years[i], &call, &put);
    wrong += !(std::fabs(calls[i] - call) < 1e-3f && std::fabs(puts[i] - put) < 1e-3f);
  }
  printf("black_scholes: %d of %d options wrong\n", wrong, kOptions);
  return wrong == 0 ? 0 : 1;
}
