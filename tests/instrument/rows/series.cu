// Short loops over shared memory, which are written out and looked at as one: in order, in races, beside the
// array, of several widths and with lanes missing; for the comparison of checks that wait with checks on the
// spot.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kTile = 16, kSize = 64;

template <bool before, bool after> __global__ void product(const float* a, const float* b, float* c) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int m = 0; m < kSize / kTile; ++m) {
    as[threadIdx.y][threadIdx.x] = a[row * kSize + m * kTile + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(m * kTile + threadIdx.y) * kSize + column];
    if (before) __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    if (after) __syncthreads();
  }
  c[row * kSize + column] = sum;
}

/// Lanes by different numbers of words apart, of which some leave before.
template <class T, int pitch> __global__ void columns(T* out, int stay) {
  __shared__ T tile[32 * pitch];
  int t = threadIdx.x;
  for (int k = 0; k < pitch; ++k) tile[t * pitch + k] = T(t + k);
  __syncthreads();
  if (t % 4 >= stay) return;
  T sum = 0;
  for (int k = 0; k < 8; ++k) sum += tile[t * pitch + k % pitch] + tile[(31 - t) * pitch + k % pitch];
  out[t] = sum;
}

/// All lanes read the same words, and one writes one of them without a barrier.
__global__ void everybody(int* out, int writer) {
  __shared__ int values[8];
  if (threadIdx.x < 8) values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += values[k];
  if (threadIdx.x == writer) values[5] = sum;
  out[threadIdx.x] = sum;
}

/// Several warps read the same columns, and one that has not read writes them without a barrier.
__global__ void lateWriter(int* out) {
  __shared__ int tile[kTile][kTile];
  int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = x + y;
  __syncthreads();
  int sum = 0;
  if (y < 14)
    for (int k = 0; k < 8; ++k) sum += tile[k][x];
  else
    tile[y - 14][x] = y;
  out[y * kTile + x] = sum;
}

/// A window that goes beyond the array for the last lanes.
__global__ void window(int* out, int shift) {
  __shared__ int values[64];
  values[threadIdx.x] = threadIdx.x;
  values[threadIdx.x + 32] = threadIdx.x;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum += values[threadIdx.x + shift + k];
  out[threadIdx.x] = sum;
}

/// Half of what is read has never been written.
__global__ void unwritten(int* out) {
  __shared__ int values[16];
  if (threadIdx.x < 8) values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 16; ++k) sum += values[k];
  out[threadIdx.x] = sum;
}

int main() {
  float *a, *b, *c;
  int* out;
  double* wide;
  cudaMalloc(&a, kSize * kSize * sizeof(float));
  cudaMalloc(&b, kSize * kSize * sizeof(float));
  cudaMalloc(&c, kSize * kSize * sizeof(float));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMalloc(&wide, 256 * sizeof(double));
  cudaMemset(a, 0, kSize * kSize * sizeof(float));
  cudaMemset(b, 0, kSize * kSize * sizeof(float));
  dim3 grid(kSize / kTile, kSize / kTile), block(kTile, kTile);
  product<true, true><<<grid, block>>>(a, b, c);
  product<false, true><<<grid, block>>>(a, b, c);
  product<true, false><<<grid, block>>>(a, b, c);
  for (int stay : {4, 3, 1}) {
    columns<float, 32><<<1, 32>>>(c, stay);
    columns<float, 33><<<1, 32>>>(c, stay);
    columns<int, 6><<<1, 32>>>(out, stay);
    columns<double, 8><<<1, 32>>>(wide, stay);
    columns<short, 8><<<1, 32>>>((short*)out, stay);
  }
  everybody<<<1, 64>>>(out, 64);
  everybody<<<1, 64>>>(out, 3);
  everybody<<<1, 64>>>(out, 40);
  lateWriter<<<1, dim3(kTile, kTile)>>>(out);
  window<<<1, 32>>>(out, 8);
  window<<<1, 32>>>(out, 30);
  unwritten<<<1, 40>>>(out);
  cudaDeviceSynchronize();
  int result;
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d\n", result);
}
