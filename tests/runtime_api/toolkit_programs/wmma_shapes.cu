// Every shape and type of wmma against the same sums on the host.
#include <cstdio>
#include <cstdlib>
#include <mma.h>
#include <type_traits>
#include <vector>
using namespace nvcuda;

template <class T> using Fragment = std::conditional_t<std::is_same_v<T, float>, wmma::precision::tf32, T>;

template <int M, int N, int K, class T, class C, class LA, class LB>
__global__ void product(const T* a, const T* b, const C* c, C* d, int lda, int ldb, int ldc, bool byRows) {
  wmma::fragment<wmma::matrix_a, M, N, K, Fragment<T>, LA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, Fragment<T>, LB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc, sum;
  auto layout = byRows ? wmma::mem_row_major : wmma::mem_col_major;
  wmma::fill_fragment(sum, C(0));
  wmma::load_matrix_sync(fa, a, lda);
  wmma::load_matrix_sync(fb, b, ldb);
  wmma::load_matrix_sync(fc, c, ldc, layout);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] + sum.x[i] + C(1);
  wmma::mma_sync(sum, fa, fb, fc);
  wmma::store_matrix_sync(d, sum, ldc, layout);
}

template <class T> T* managed(int n) {
  T* p;
  if (cudaMallocManaged(&p, n * sizeof(T)) != cudaSuccess) std::exit(3);
  return p;
}

template <int M, int N, int K, class T, class C, class LA, class LB> int wrong(bool byRows) {
  constexpr bool rowA = std::is_same_v<LA, wmma::row_major>, rowB = std::is_same_v<LB, wmma::row_major>;
  int lda = (rowA ? K : M) + 16, ldb = (rowB ? N : K) + 16, ldc = (byRows ? N : M) + 16;
  T *a = managed<T>(lda * (rowA ? M : K)), *b = managed<T>(ldb * (rowB ? K : N));
  int sizeC = ldc * (byRows ? M : N);
  C *c = managed<C>(sizeC), *d = managed<C>(sizeC);
  auto atA = [&](int i, int k) -> T& { return a[rowA ? i * lda + k : k * lda + i]; };
  auto atB = [&](int k, int j) -> T& { return b[rowB ? k * ldb + j : j * ldb + k]; };
  auto atC = [&](C* m, int i, int j) -> C& { return m[byRows ? i * ldc + j : j * ldc + i]; };
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k) atA(i, k) = T(float((i * 7 + k * 3) % 11));
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < N; ++j) atB(k, j) = T(float((k * 5 + j) % 7));
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) atC(c, i, j) = C(float(i - j));
  product<M, N, K, T, C, LA, LB><<<1, 32>>>(a, b, c, d, lda, ldb, ldc, byRows);
  if (cudaDeviceSynchronize() != cudaSuccess) return -1;
  int bad = 0;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = float(i - j + 1);
      for (int k = 0; k < K; ++k) sum += float((i * 7 + k * 3) % 11) * float((k * 5 + j) % 7);
      bad += float(atC(d, i, j)) != sum;
    }
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  cudaFree(d);
  return bad;
}

using Rows = wmma::row_major;
using Columns = wmma::col_major;

template <int M, int N, int K, class T, class C> int allLayouts() {
  int bad = wrong<M, N, K, T, C, Rows, Columns>(true) + wrong<M, N, K, T, C, Columns, Rows>(false);
  if constexpr (!std::is_same_v<T, double>)
    bad += wrong<M, N, K, T, C, Rows, Rows>(false) + wrong<M, N, K, T, C, Columns, Columns>(true);
  std::printf("%dx%dx%d: %d wrong\n", M, N, K, bad);
  return bad;
}

int main() {
  int bad = allLayouts<16, 16, 16, half, float>() + allLayouts<16, 16, 16, half, half>();
  bad += allLayouts<32, 8, 16, half, float>() + allLayouts<8, 32, 16, half, half>();
  bad += allLayouts<16, 16, 16, __nv_bfloat16, float>() + allLayouts<32, 8, 16, __nv_bfloat16, float>();
  bad += allLayouts<8, 32, 16, __nv_bfloat16, float>() + allLayouts<16, 16, 8, float, float>();
  bad += allLayouts<8, 8, 4, double, double>() + allLayouts<16, 16, 16, signed char, int>();
  bad += allLayouts<16, 16, 16, unsigned char, int>() + allLayouts<32, 8, 16, signed char, int>();
  bad += allLayouts<8, 32, 16, unsigned char, int>();
  std::printf(bad ? "FAIL %d\n" : "PASS\n", bad);
  return bad != 0;
}
