// cuBLAS level 3, float and double, real and complex. As level 1 and 2 in vector_api.cpp.
#include "instrument/runtime/blas/calls.h"

#include <vector>

namespace kcheck::runtime::blas {
namespace {

/// alpha and beta, read when the work is done: in device mode the device has them then.
template <class T> struct Factors {
  const T *alpha, *beta;
  bool device;
  T hostAlpha{}, hostBeta{};

  Factors(Operation& o, const T* alpha, const T* beta)
      : alpha(alpha), beta(beta), device(o.scalarsOnDevice()) {
    o.scalar(alpha, sizeof(T), Use::Read);
    if (beta) o.scalar(beta, sizeof(T), Use::Read);
    if (device) return;
    hostAlpha = *alpha;
    if (beta) hostBeta = *beta;
  }
  const T* a() const { return device ? alpha : &hostAlpha; }
  const T* b() const { return device ? beta : &hostBeta; }
  /// What becomes of the result's old content.
  Use ofResult() const { return !device && hostBeta == T() ? Use::Write : Use::Update; }
};

struct Shape {
  int transA, transB, m, n, k, lda, ldb, ldc;
  int rowsA() const { return transA ? k : m; }
  int rowsB() const { return transB ? n : k; }
  bool fits() const {
    return isOperation(transA) && isOperation(transB) && m >= 0 && n >= 0 && k >= 0 && holds(lda, rowsA()) &&
           holds(ldb, rowsB()) && holds(ldc, m);
  }
};

template <class T>
void multiply(const Shape& s, const T* alpha, const T* a, const T* b, const T* beta, T* c) {
  fortran<T>("gemm", transposition(s.transA), transposition(s.transB), &s.m, &s.n, &s.k, alpha, a, &s.lda, b,
             &s.ldb, beta, c, &s.ldc, 1L, 1L);
}

template <class T>
void operands(Operation& o, const Shape& s, const T* a, const T* b, const T* c, Use ofResult) {
  if (!s.fits()) return;
  o.matrix(a, s.rowsA(), s.transA ? s.m : s.k, s.lda, sizeof(T), Use::Read);
  o.matrix(b, s.rowsB(), s.transB ? s.k : s.n, s.ldb, sizeof(T), Use::Read);
  o.matrix(c, s.m, s.n, s.ldc, sizeof(T), ofResult);
}

template <class T>
Status gemm(Operation o, Shape s, const T* alpha, const T* a, const T* b, const T* beta, T* c) {
  Factors<T> factors(o, alpha, beta);
  operands(o, s, a, b, c, factors.ofResult());
  return o.run(s.fits(), [=] { multiply(s, factors.a(), a, b, factors.b(), c); });
}

template <class T>
Status strided(Operation o, Shape s, const T* alpha, const T* a, long long da, const T* b, long long db,
               const T* beta, T* c, long long dc, int count) {
  Factors<T> factors(o, alpha, beta);
  for (int i = 0; i < count; ++i) operands(o, s, a + i * da, b + i * db, c + i * dc, factors.ofResult());
  return o.run(s.fits() && count >= 0, [=] {
    for (int i = 0; i < count; ++i) multiply(s, factors.a(), a + i * da, b + i * db, factors.b(), c + i * dc);
  });
}

/// The arrays of pointers lie in device memory.
template <class T>
Status batched(Operation o, Shape s, const T* alpha, const T* const* a, const T* const* b, const T* beta,
               T* const* c, int count) {
  if (count < 0) return Status::InvalidValue;
  Factors<T> factors(o, alpha, beta);
  for (const void* pointers :
       {static_cast<const void*>(a), static_cast<const void*>(b), static_cast<const void*>(c)})
    o.vector(pointers, count, 1, sizeof(T*), Use::Read);
  // What they name is known once they can be read.
  std::vector<const T*> pointers;
  if (!o.collect(a, count, pointers) || !o.collect(b, count, pointers) ||
      !o.collect(const_cast<const T* const*>(c), count, pointers))
    return o.run(true, [] {});
  const auto total = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < total; ++i)
    operands(o, s, pointers[i], pointers[total + i], pointers[2 * total + i], factors.ofResult());
  return o.run(s.fits(), [=] {
    for (std::size_t i = 0; i < total; ++i)
      multiply(s, factors.a(), pointers[i], pointers[total + i], factors.b(),
               const_cast<T*>(pointers[2 * total + i]));
  });
}

template <class T>
Status syrk(Operation o, int fill, int trans, int n, int k, const T* alpha, const T* a, int lda,
            const T* beta, T* c, int ldc) {
  Factors<T> factors(o, alpha, beta);
  bool fits = isOperation(trans) && n >= 0 && k >= 0 && holds(lda, trans ? k : n) && holds(ldc, n);
  if (fits) {
    o.matrix(a, trans ? k : n, trans ? n : k, lda, sizeof(T), Use::Read);
    o.triangle(c, n, ldc, fill == 1, sizeof(T), factors.ofResult());
  }
  return o.run(fits, [=] {
    fortran<T>("syrk", half(fill), transposition(trans), &n, &k, factors.a(), a, &lda, factors.b(), c, &ldc,
               1L, 1L);
  });
}

template <class T>
Status symmetric(const char* name, Operation o, int right, int fill, int m, int n, const T* alpha, const T* a,
                 int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {
  Factors<T> factors(o, alpha, beta);
  int rows = right ? n : m;
  bool fits = m >= 0 && n >= 0 && holds(lda, rows) && holds(ldb, m) && holds(ldc, m);
  if (fits) {
    o.triangle(a, rows, lda, fill == 1, sizeof(T), Use::Read);
    o.matrix(b, m, n, ldb, sizeof(T), Use::Read);
    o.matrix(c, m, n, ldc, sizeof(T), factors.ofResult());
  }
  return o.run(fits, [=] {
    fortran<T>(name, side(right), half(fill), &m, &n, factors.a(), a, &lda, b, &ldb, factors.b(), c, &ldc, 1L,
               1L);
  });
}

template <class T>
Status symm(Operation o, int right, int fill, int m, int n, const T* alpha, const T* a, int lda, const T* b,
            int ldb, const T* beta, T* c, int ldc) {
  return symmetric("symm", std::move(o), right, fill, m, n, alpha, a, lda, b, ldb, beta, c, ldc);
}

/// Of complex matrices: hemm, as symm, and herk, whose factors are real and whose diagonal is.
template <class T>
Status hemm(Operation o, int right, int fill, int m, int n, const T* alpha, const T* a, int lda, const T* b,
            int ldb, const T* beta, T* c, int ldc) {
  return symmetric("hemm", std::move(o), right, fill, m, n, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <class T, class R = typename T::value_type>
Status herk(Operation o, int fill, int trans, int n, int k, const R* alpha, const T* a, int lda,
            const R* beta, T* c, int ldc) {
  Factors<R> factors(o, alpha, beta);
  bool fits = isOperation(trans) && n >= 0 && k >= 0 && holds(lda, trans ? k : n) && holds(ldc, n);
  if (fits) {
    o.matrix(a, trans ? k : n, trans ? n : k, lda, sizeof(T), Use::Read);
    o.triangle(c, n, ldc, fill == 1, sizeof(T), factors.ofResult());
  }
  return o.run(fits, [=] {
    fortran<T>("herk", half(fill), transposition(trans), &n, &k, factors.a(), a, &lda, factors.b(), c, &ldc,
               1L, 1L);
  });
}

template <class T>
Status trsm(Operation o, int right, int fill, int trans, int unit, int m, int n, const T* alpha, const T* a,
            int lda, T* b, int ldb) {
  Factors<T> factors(o, alpha, static_cast<const T*>(nullptr));
  int rows = right ? n : m;
  bool fits = isOperation(trans) && m >= 0 && n >= 0 && holds(lda, rows) && holds(ldb, m);
  if (fits) {
    o.triangle(a, rows, lda, fill == 1, sizeof(T), Use::Read);
    o.matrix(b, m, n, ldb, sizeof(T), Use::Update);
  }
  return o.run(fits, [=] {
    fortran<T>("trsm", side(right), half(fill), transposition(trans), diagonal(unit), &m, &n, factors.a(), a,
               &lda, b, &ldb, 1L, 1L, 1L, 1L);
  });
}

template <class T> T conjugate(T value) { return value; }
template <class T> std::complex<T> conjugate(std::complex<T> value) { return std::conj(value); }

/// C = alpha op(A) + beta op(B), which BLAS does not have. A factor of zero leaves its matrix unread.
template <class T>
Status geam(Operation o, int transA, int transB, int m, int n, const T* alpha, const T* a, int lda,
            const T* beta, const T* b, int ldb, T* c, int ldc) {
  Factors<T> factors(o, alpha, beta);
  bool readsA = factors.device || factors.hostAlpha != T(),
       readsB = factors.device || factors.hostBeta != T();
  bool fits = isOperation(transA) && isOperation(transB) && m >= 0 && n >= 0 && holds(ldc, m) &&
              (!readsA || holds(lda, transA ? n : m)) && (!readsB || holds(ldb, transB ? n : m));
  if (fits) {
    if (readsA) o.matrix(a, transA ? n : m, transA ? m : n, lda, sizeof(T), Use::Read);
    if (readsB) o.matrix(b, transB ? n : m, transB ? m : n, ldb, sizeof(T), Use::Read);
    o.matrix(c, m, n, ldc, sizeof(T), Use::Write);
  }
  return o.run(fits, [=] {
    auto element = [](const T* from, int trans, std::ptrdiff_t distance, int row, int column) {
      T value = trans ? from[column + row * distance] : from[row + column * distance];
      return trans == 2 ? conjugate(value) : value;
    };
    for (int column = 0; column < n; ++column)
      for (int row = 0; row < m; ++row) {
        T sum = readsA ? *factors.a() * element(a, transA, lda, row, column) : T();
        if (readsB) sum += *factors.b() * element(b, transB, ldb, row, column);
        c[row + std::ptrdiff_t{column} * ldc] = sum;
      }
  });
}

} // namespace
} // namespace kcheck::runtime::blas

using namespace kcheck::runtime::blas;

#define KC_OPERATION(name) Operation(handle, name, __builtin_return_address(0))

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type
#define KC_BLAS(S, T)                                                                                        \
  Status cublas##S##gemm_v2(void* handle, int ta, int tb, int m, int n, int k, const T* alpha, const T* a,   \
                            int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {                    \
    return gemm<T>(KC_OPERATION("cublas" #S "gemm"), {ta, tb, m, n, k, lda, ldb, ldc}, alpha, a, b, beta,    \
                   c);                                                                                       \
  }                                                                                                          \
  Status cublas##S##gemmStridedBatched(void* handle, int ta, int tb, int m, int n, int k, const T* alpha,    \
                                       const T* a, int lda, long long da, const T* b, int ldb, long long db, \
                                       const T* beta, T* c, int ldc, long long dc, int count) {              \
    return strided<T>(KC_OPERATION("cublas" #S "gemmStridedBatched"), {ta, tb, m, n, k, lda, ldb, ldc},      \
                      alpha, a, da, b, db, beta, c, dc, count);                                              \
  }                                                                                                          \
  Status cublas##S##gemmBatched(void* handle, int ta, int tb, int m, int n, int k, const T* alpha,           \
                                const T* const* a, int lda, const T* const* b, int ldb, const T* beta,       \
                                T* const* c, int ldc, int count) {                                           \
    return batched<T>(KC_OPERATION("cublas" #S "gemmBatched"), {ta, tb, m, n, k, lda, ldb, ldc}, alpha, a,   \
                      b, beta, c, count);                                                                    \
  }                                                                                                          \
  Status cublas##S##syrk_v2(void* handle, int fill, int trans, int n, int k, const T* alpha, const T* a,     \
                            int lda, const T* beta, T* c, int ldc) {                                         \
    return syrk<T>(KC_OPERATION("cublas" #S "syrk"), fill, trans, n, k, alpha, a, lda, beta, c, ldc);        \
  }                                                                                                          \
  Status cublas##S##symm_v2(void* handle, int right, int fill, int m, int n, const T* alpha, const T* a,     \
                            int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {                    \
    return symm<T>(KC_OPERATION("cublas" #S "symm"), right, fill, m, n, alpha, a, lda, b, ldb, beta, c,      \
                   ldc);                                                                                     \
  }                                                                                                          \
  Status cublas##S##trsm_v2(void* handle, int right, int fill, int trans, int unit, int m, int n,            \
                            const T* alpha, const T* a, int lda, T* b, int ldb) {                            \
    return trsm<T>(KC_OPERATION("cublas" #S "trsm"), right, fill, trans, unit, m, n, alpha, a, lda, b, ldb); \
  }                                                                                                          \
  Status cublas##S##geam(void* handle, int ta, int tb, int m, int n, const T* alpha, const T* a, int lda,    \
                         const T* beta, const T* b, int ldb, T* c, int ldc) {                                \
    return geam<T>(KC_OPERATION("cublas" #S "geam"), ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc);     \
  }

#define KC_COMPLEX(S, T, R)                                                                                  \
  Status cublas##S##hemm_v2(void* handle, int right, int fill, int m, int n, const T* alpha, const T* a,     \
                            int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {                    \
    return hemm<T>(KC_OPERATION("cublas" #S "hemm"), right, fill, m, n, alpha, a, lda, b, ldb, beta, c,      \
                   ldc);                                                                                     \
  }                                                                                                          \
  Status cublas##S##herk_v2(void* handle, int fill, int trans, int n, int k, const R* alpha, const T* a,     \
                            int lda, const R* beta, T* c, int ldc) {                                         \
    return herk<T>(KC_OPERATION("cublas" #S "herk"), fill, trans, n, k, alpha, a, lda, beta, c, ldc);        \
  }

// NOLINTEND(bugprone-macro-parentheses)

extern "C" {
KC_BLAS(S, float)
KC_BLAS(D, double)
KC_BLAS(C, std::complex<float>)
KC_BLAS(Z, std::complex<double>)
KC_COMPLEX(C, std::complex<float>, float)
KC_COMPLEX(Z, std::complex<double>, double)
}
