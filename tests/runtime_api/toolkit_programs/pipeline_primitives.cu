// __pipeline_memcpy_async in stages, with a part that is filled with zeros.
#include <cstdio>
#include <cuda_pipeline.h>
__global__ void k(const float4* in, float4* out) {
  __shared__ float4 s[2][64];
  __pipeline_memcpy_async(&s[0][threadIdx.x], in + threadIdx.x, 16);
  __pipeline_commit();
  for (int i = 0; i < 4; ++i) {
    if (i < 3) {
      __pipeline_memcpy_async(&s[(i + 1) & 1][threadIdx.x], in + (i + 1) * 64 + threadIdx.x, 16,
                              i == 2 && threadIdx.x > 31 ? 8 : 0);
      __pipeline_commit();
    }
    __pipeline_wait_prior(i < 3 ? 1 : 0);
    __syncthreads();
    out[i * 64 + threadIdx.x] = s[i & 1][63 - threadIdx.x];
    __syncthreads();
  }
}
int main() {
  float4 *in, *out;
  cudaMallocManaged(&in, 4096);
  cudaMallocManaged(&out, 4096);
  for (int i = 0; i < 256; ++i) in[i] = make_float4(i, i + 1, i + 2, i + 3);
  k<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  int bad = 0;
  for (int i = 0; i < 256; ++i) {
    int j = i / 64 * 64 + 63 - i % 64;
    bool z = j >= 192 + 32;
    bad += out[i].x != in[j].x || out[i].y != in[j].y || out[i].z != (z ? 0 : in[j].z) ||
           out[i].w != (z ? 0 : in[j].w);
  }
  printf(bad ? "FAIL: %d wrong\n" : "PASS\n", bad);
  cudaFree(in);
  cudaFree(out);
  return bad != 0;
}
