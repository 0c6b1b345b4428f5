// Pi by counting random points inside the unit circle. Every thread draws from a generator state of its own,
// a block adds up its counts in shared memory, and one atomicAdd per block merges them.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kBlock = 128;
constexpr int kGrid = 32;
constexpr int kThreads = kGrid * kBlock;
constexpr int kDraws = 64;

__host__ __device__ inline float nextUniform(unsigned& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return (state >> 8) * (1.0f / 16777216.0f);
}

__host__ __device__ inline int countInside(unsigned& state, int draws) {
  int inside = 0;
  for (int i = 0; i < draws; ++i) {
    float x = nextUniform(state);
    float y = nextUniform(state);
    if (x * x + y * y < 1.0f) ++inside;
  }
  return inside;
}

__global__ void countHits(unsigned* states, int* hits, int draws) {
  __shared__ int partial[kBlock];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  unsigned state = states[i];
  partial[t] = countInside(state, draws);
  states[i] = state;
  __syncthreads();
  for (int s = kBlock / 2; s > 0; s /= 2) {
    if (t < s) partial[t] += partial[t + s];
    __syncthreads();
  }
  if (t == 0) atomicAdd(hits, partial[0]);
}

int main() {
  std::vector<unsigned> states(kThreads);
  for (int i = 0; i < kThreads; ++i) states[i] = 2463534242u + 7919u * i;

  unsigned* dstates;
  int* dhits;
  cudaMalloc(&dstates, kThreads * sizeof(unsigned));
  cudaMalloc(&dhits, sizeof(int));
  cudaMemcpy(dstates, states.data(), kThreads * sizeof(unsigned), cudaMemcpyHostToDevice);
  cudaMemset(dhits, 0, sizeof(int));
  countHits<<<kGrid, kBlock>>>(dstates, dhits, kDraws);
  int hits = 0;
  cudaMemcpy(&hits, dhits, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(dstates);
  cudaFree(dhits);

  int expected = 0;
  for (int i = 0; i < kThreads; ++i) expected += countInside(states[i], kDraws);
  double pi = 4.0 * hits / (double(kThreads) * kDraws);
  bool ok = hits == expected && std::fabs(pi - 3.14159) < 0.02;
  printf("monte_carlo_pi: pi is about %.4f: %s\n", pi, ok ? "right" : "wrong");
  return ok ? 0 : 1;
}
