// As group_copies, but the buffer is filled anew while others read it.
// expect-report: used while an asynchronous copy may still write it [race-shared]
// expect-status: 1
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <vector>
namespace cg = cooperative_groups;
constexpr int N = 512, B = 128;
__global__ void copy(int* out, const int* in) {
  __shared__ int tile[2][B];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile[0], in, sizeof(int) * B);
  for (int i = 0; i < N / B; ++i) {
    if (i + 1 < N / B) {
      cg::memcpy_async(block, tile[(i + 1) & 1], in + (i + 1) * B, sizeof(int) * B);
      cg::wait_prior<1>(block);
    } else {
      cg::wait(block);
    }
    out[i * B + threadIdx.x] = tile[i & 1][B - 1 - threadIdx.x];
  }
}
__global__ void sums(int* total, int* scan, int* ex, const int* in, float* mx) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int v = in[block.thread_rank()];
  int s = cg::reduce(tile, v, cg::plus<int>());
  int inc = cg::inclusive_scan(tile, v, cg::plus<int>());
  int e = cg::exclusive_scan(tile, v);
  float m = cg::reduce(tile, float(v), cg::greater<float>());
  scan[threadIdx.x] = inc;
  ex[threadIdx.x] = e;
  if (tile.thread_rank() == 0) {
    atomicAdd(total, s);
    mx[threadIdx.x / 32] = m;
  }
  auto t8 = cg::tiled_partition<8>(block);
  int x = cg::reduce(t8, v, cg::bit_xor<int>());
  if (t8.thread_rank() == 0) atomicXor(total + 1, x);
  auto co = cg::coalesced_threads();
  if (v % 3 == 0) {
    auto a = cg::coalesced_threads();
    int k = cg::reduce(a, 1, cg::plus<int>());
    if (a.thread_rank() == 0) atomicAdd(total + 2, k);
  }
}
int main() {
  std::vector<int> h(N), r(N), sc(B), ex(B);
  for (int i = 0; i < N; ++i) h[i] = i * 7 % 31;
  int *in, *out, *t, *s, *e;
  float* m;
  cudaMalloc(&in, N * 4);
  cudaMalloc(&out, N * 4);
  cudaMalloc(&t, 12);
  cudaMalloc(&s, B * 4);
  cudaMalloc(&e, B * 4);
  cudaMalloc(&m, 16);
  cudaMemcpy(in, h.data(), N * 4, cudaMemcpyHostToDevice);
  cudaMemset(t, 0, 12);
  copy<<<1, B>>>(out, in);
  sums<<<1, B>>>(t, s, e, in, m);
  cudaMemcpy(r.data(), out, N * 4, cudaMemcpyDeviceToHost);
  int bad = 0;
  for (int b = 0; b < N / B; ++b)
    for (int i = 0; i < B; ++i) bad += r[b * B + i] != h[b * B + B - 1 - i];
  printf("copy %d\n", bad);
  int tot[3];
  float mx[4];
  cudaMemcpy(tot, t, 12, cudaMemcpyDeviceToHost);
  cudaMemcpy(sc.data(), s, B * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(ex.data(), e, B * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(mx, m, 16, cudaMemcpyDeviceToHost);
  int sum = 0, x = 0, k = 0;
  for (int w = 0; w < 4; ++w) {
    int run = 0;
    float mm = 0;
    for (int i = 0; i < 32; ++i) {
      int v = h[w * 32 + i];
      bad += ex[w * 32 + i] != run;
      run += v;
      bad += sc[w * 32 + i] != run;
      sum += v;
      x ^= v;
      k += v % 3 == 0;
      if (v > mm) mm = v;
    }
    bad += mx[w] != mm;
  }
  bad += tot[0] != sum;
  bad += tot[1] != x;
  bad += tot[2] != k;
  printf("PASS %d\n", bad);
  cudaFree(in);
  cudaFree(out);
  cudaFree(t);
  cudaFree(s);
  cudaFree(e);
  cudaFree(m);
  return 0;
}
