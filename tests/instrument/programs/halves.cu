// Half and bfloat16 arithmetic against the same arithmetic in float, rounded on the host.
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void half1(const float* in, float* out, int n) {
  int t = threadIdx.x;
  __half a = __float2half(in[t]), b = __float2half(in[(t + 1) % n]);
  out[t] = __half2float(__hadd(a, b));
  out[n + t] = __half2float(__hmul(a, b));
  out[2 * n + t] = __half2float(__hsub(a, b));
  out[3 * n + t] = __hlt(a, b) + 2 * __heq(a, a) + 4 * __hgt(a, b);
  out[4 * n + t] = __half2int_rn(a) + __half2int_rz(b);
  out[5 * n + t] = __half2float(__hmax(a, __hneg(b)));
  out[6 * n + t] = __half2float(__hdiv(a, __float2half(2.0f)));
  __half2 pair = __halves2half2(a, b);
  pair = __hfma2(pair, __float2half2_rn(2.0f), __float2half2_rn(1.0f));
  out[7 * n + t] = __low2float(pair) - __high2float(pair);
  __nv_bfloat16 c = __float2bfloat16(in[t]);
  out[8 * n + t] = __bfloat162float(c);
  out[9 * n + t] = __bfloat162float(__hadd(c, c));
  out[10 * n + t] = __half2float(__float2half_rz(in[t] * 1.001f));
  out[11 * n + t] = __half2float(__float2half_ru(in[t] * 1.001f));
}

int main() {
  constexpr int n = 64;
  Buffer<float> in(n), out(12 * n);
  for (int i = 0; i < n; ++i) in[i] = (i - 20) * 1.375f;
  half1<<<1, n>>>(in.data, out.data, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; ++i) {
    float a = __half2float(__float2half(in[i])), b = __half2float(__float2half(in[(i + 1) % n]));
    auto rounded = [](float x) { return __half2float(__float2half(x)); };
    same("add", i, out[i], rounded(a + b));
    same("mul", i, out[n + i], rounded(a * b));
    same("sub", i, out[2 * n + i], rounded(a - b));
    same("compare", i, out[3 * n + i], (a < b) + 2 + 4 * (a > b));
    same("int", i, out[4 * n + i], int(nearbyintf(a)) + int(b));
    same("max", i, out[5 * n + i], fmaxf(a, -b));
    same("div", i, out[6 * n + i], rounded(a / 2));
    same("fma2", i, out[7 * n + i], rounded(2 * a + 1) - rounded(2 * b + 1));
    float bf = __bfloat162float(__float2bfloat16(in[i]));
    same("bfloat", i, out[8 * n + i], bf);
    same("bfloat add", i, out[9 * n + i], 2 * bf);
    float x = in[i] * 1.001f, down = out[10 * n + i], up = out[11 * n + i];
    if (fabsf(down) > fabsf(x) || up < x || fabsf(x - down) > fabsf(x) / 1000 || up - x > fabsf(x) / 1000 + 1e-6f)
      same("directed", i, down, x);
  }
  return finish();
}
