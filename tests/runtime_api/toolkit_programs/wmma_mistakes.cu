// A tile that others still write, a tile beyond the array's end, and half of a warp on its own.
// expect-report: with no __syncwarp between them [race-warp]
// expect-report: error: read of 16 bytes right behind the end of `in` [out-of-bounds]
// expect-report: the mask 0xffffffff of a warp collective names lane 16, which is not there [warp-mask]
// expect-status: 1
#include <cstdio>
#include <mma.h>
using namespace nvcuda;

using A = wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>;
using B = wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major>;
using C = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__global__ void early(const half* in, float* out) {
  __shared__ alignas(32) half tile[256];
  for (int i = threadIdx.x; i < 256; i += 32) tile[i] = in[i];
  A a;
  B b;
  C c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, tile, 16); // __syncwarp() is missing before it
  wmma::load_matrix_sync(b, in, 16);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}

__global__ void beyond(const half* in, float* out) {
  A a;
  B b;
  C c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, in + 16, 16); // one row too far
  wmma::load_matrix_sync(b, in, 16);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}

__global__ void half_alone(const half* in, float* out) {
  A a;
  B b;
  C c;
  wmma::fill_fragment(c, 0.0f);
  wmma::load_matrix_sync(a, in, 16);
  wmma::load_matrix_sync(b, in, 16);
  if (threadIdx.x < 16) wmma::mma_sync(c, a, b, c);
  __syncwarp();
  wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}

int main() {
  half* in;
  float* out;
  cudaMalloc(&in, 256 * sizeof(half));
  cudaMalloc(&out, 256 * sizeof(float));
  cudaMemset(in, 0, 256 * sizeof(half));
  early<<<1, 32>>>(in, out);
  beyond<<<1, 32>>>(in, out);
  half_alone<<<1, 32>>>(in, out);
  std::printf(cudaDeviceSynchronize() == cudaSuccess ? "PASS\n" : "FAIL\n");
  cudaFree(in);
  cudaFree(out);
}
