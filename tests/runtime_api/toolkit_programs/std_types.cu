// The types of cuda::std in a kernel.
#include <cstdio>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/complex>
#include <cuda/std/expected>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/std/variant>
namespace cs = cuda::std;
__device__ cs::optional<int> half_of(int v) {
  if (v & 1) return cs::nullopt;
  return v / 2;
}
__device__ cs::expected<int, char> check(int v) {
  if (v < 0) return cs::unexpected<char>('n');
  return v;
}
__global__ void k(cs::span<float> data, float* out, int* iout) {
  using M = cs::mdspan<float, cs::extents<int, cs::dynamic_extent, cs::dynamic_extent>>;
  M m(data.data(), 8, 16);
  int i = threadIdx.x;
  if (i < 8) {
    float s = 0;
    for (int j = 0; j < m.extent(1); ++j) s += m(i, j);
    out[i] = s;
  }
  cs::array<int, 4> a{i, i + 1, i + 2, i + 3};
  int t = 0;
  for (int v : a) t += v;
  iout[i] = t + half_of(i).value_or(-1) + *check(i);
  cs::complex<float> z(float(i), 1.f);
  z = z * z + cs::complex<float>(0.5f, 0.25f);
  out[8 + i] = cs::abs(z);
  out[40 + i] = cs::numeric_limits<float>::max() > 1e30f ? cs::numeric_limits<float>::epsilon() : 0;
  cs::tuple<int, float> tu{i, 2.f};
  auto [p, q] = tu;
  iout[32 + i] = p * int(q) + cs::popcount(unsigned(i));
  cs::variant<int, float> v;
  if (i & 1)
    v = 2.5f;
  else
    v = i;
  iout[64 + i] = cs::holds_alternative<float>(v) ? 100 : cs::get<0>(v);
  cs::array<int, 5> b{5, 3, 9, 1, 7};
  cs::swap(b[0], b[1]);
  iout[96 + i] = 9 + cs::gcd(12, i + 6) + cs::max(i, 3) + int(b[0] == 3) + cs::min(i, 3);
}
int main() {
  float *d, *o;
  int* io;
  cudaMallocManaged(&d, 512);
  cudaMallocManaged(&o, 4 * 72);
  cudaMallocManaged(&io, 4 * 128);
  for (int i = 0; i < 128; ++i) d[i] = i;
  k<<<1, 32>>>(cs::span<float>(d, 128), o, io);
  if (cudaDeviceSynchronize()) return 3;
  int bad = 0;
  for (int i = 0; i < 8; ++i) {
    float s = 0;
    for (int j = 0; j < 16; ++j) s += d[i * 16 + j];
    bad += o[i] != s;
  }
  for (int i = 0; i < 32; ++i) {
    bad += io[i] != 4 * i + 6 + (i & 1 ? -1 : i / 2) + i;
    cs::complex<float> z(float(i), 1.f);
    z = z * z + cs::complex<float>(0.5f, 0.25f);
    float e = cs::abs(z);
    if (fabsf(e - o[8 + i]) > 1e-4f * e) ++bad;
    bad += io[32 + i] != 2 * i + __builtin_popcount(i);
    bad += io[64 + i] != (i & 1 ? 100 : i);
    bad += io[96 + i] != 9 + cs::gcd(12, i + 6) + cs::max(i, 3) + 1 + cs::min(i, 3);
  }
  printf(bad ? "FAIL: %d wrong\n" : "PASS\n", bad);
  cudaFree(d);
  cudaFree(o);
  cudaFree(io);
  return bad != 0;
}
