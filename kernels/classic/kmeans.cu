// K-means with 20000 points and 8 centres, ten rounds. Threads find the nearest centre of their points; a
// block adds up its points per centre in shared memory, and the blocks add to global sums, all in whole
// numbers.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kPoints = 20000;
constexpr int kCentres = 8;
constexpr int kRounds = 10;
constexpr int kBlock = 128;

struct Sums {
  int x[kCentres], y[kCentres], count[kCentres];
};

__host__ __device__ inline int nearest(int x, int y, const int2* centres) {
  int best = 0, smallest = 0x7fffffff;
  for (int c = 0; c < kCentres; ++c) {
    int dx = x - centres[c].x, dy = y - centres[c].y;
    int distance = dx * dx + dy * dy;
    if (distance < smallest) {
      smallest = distance;
      best = c;
    }
  }
  return best;
}

__global__ void assign(const int2* points, const int2* centres, Sums* sums, int n) {
  __shared__ Sums local;
  __shared__ int2 near[kCentres];
  int t = threadIdx.x;
  if (t < kCentres) {
    local.x[t] = local.y[t] = local.count[t] = 0;
    near[t] = centres[t];
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
    int2 point = points[i];
    int c = nearest(point.x, point.y, near);
    atomicAdd(&local.x[c], point.x);
    atomicAdd(&local.y[c], point.y);
    atomicAdd(&local.count[c], 1);
  }
  __syncthreads();
  if (t < kCentres) {
    atomicAdd(&sums->x[t], local.x[t]);
    atomicAdd(&sums->y[t], local.y[t]);
    atomicAdd(&sums->count[t], local.count[t]);
  }
}

__global__ void moveCentres(Sums* sums, int2* centres) {
  int c = threadIdx.x;
  if (c >= kCentres) return;
  int count = sums->count[c];
  if (count > 0) centres[c] = make_int2(sums->x[c] / count, sums->y[c] / count);
  sums->x[c] = sums->y[c] = sums->count[c] = 0;
}

int main() {
  std::vector<int2> points(kPoints), centres(kCentres), result(kCentres);
  unsigned state = 1;
  for (int i = 0; i < kPoints; ++i) {
    state = state * 1664525u + 1013904223u;
    points[i].x = 1000 * (i % 3) + int(state >> 16) % 700;
    points[i].y = 1000 * (i % 2) + int(state >> 8 & 0xffff) % 700;
  }
  for (int c = 0; c < kCentres; ++c) centres[c] = points[c * 997];

  int2 *dpoints, *dcentres;
  Sums* dsums;
  cudaMalloc(&dpoints, kPoints * sizeof(int2));
  cudaMalloc(&dcentres, kCentres * sizeof(int2));
  cudaMalloc(&dsums, sizeof(Sums));
  cudaMemcpy(dpoints, points.data(), kPoints * sizeof(int2), cudaMemcpyHostToDevice);
  cudaMemcpy(dcentres, centres.data(), kCentres * sizeof(int2), cudaMemcpyHostToDevice);
  cudaMemset(dsums, 0, sizeof(Sums));
  for (int round = 0; round < kRounds; ++round) {
    assign<<<32, kBlock>>>(dpoints, dcentres, dsums, kPoints);
    moveCentres<<<1, 32>>>(dsums, dcentres);
  }
  cudaMemcpy(result.data(), dcentres, kCentres * sizeof(int2), cudaMemcpyDeviceToHost);
  cudaFree(dpoints);
  cudaFree(dcentres);
  cudaFree(dsums);

  for (int round = 0; round < kRounds; ++round) {
    Sums sums = {};
    for (const int2& point : points) {
      int c = nearest(point.x, point.y, centres.data());
      sums.x[c] += point.x;
      sums.y[c] += point.y;
      ++sums.count[c];
    }
    for (int c = 0; c < kCentres; ++c)
      if (sums.count[c] > 0) centres[c] = make_int2(sums.x[c] / sums.count[c], sums.y[c] / sums.count[c]);
  }
  int wrong = 0;
  for (int c = 0; c < kCentres; ++c) wrong += result[c].x != centres[c].x || result[c].y != centres[c].y;
  printf("kmeans: %d of %d centres wrong\n", wrong, kCentres);
  return wrong == 0 ? 0 : 1;
}
