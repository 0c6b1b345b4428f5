// cuBLAS level 1 and 2, float and double. Each function names what it reads and writes, then calls BLAS.
#include "instrument/runtime/blas/calls.h"

#include <cmath>

namespace kcheck::runtime::blas {
namespace {

template <class T> Status axpy(Operation o, int n, const T* alpha, const T* x, int incx, T* y, int incy) {
  o.scalar(alpha, sizeof(T), Use::Read);
  o.vector(x, n, incx, sizeof(T), Use::Read);
  o.vector(y, n, incy, sizeof(T), Use::Update);
  return o.run(true, [=, a = o.scalarsOnDevice() ? T() : *alpha, device = o.scalarsOnDevice()] {
    fortran<T>("axpy", &n, device ? alpha : &a, x, &incx, y, &incy);
  });
}

template <class T> Status scal(Operation o, int n, const T* alpha, T* x, int incx) {
  o.scalar(alpha, sizeof(T), Use::Read);
  o.vector(x, n, incx, sizeof(T), Use::Update);
  return o.run(true, [=, a = o.scalarsOnDevice() ? T() : *alpha, device = o.scalarsOnDevice()] {
    fortran<T>("scal", &n, device ? alpha : &a, x, &incx);
  });
}

template <class T> Status copy(Operation o, int n, const T* x, int incx, T* y, int incy) {
  o.vector(x, n, incx, sizeof(T), Use::Read);
  o.vector(y, n, incy, sizeof(T), Use::Write);
  return o.run(true, [=] { fortran<T>("copy", &n, x, &incx, y, &incy); });
}

template <class T> Status swap(Operation o, int n, T* x, int incx, T* y, int incy) {
  o.vector(x, n, incx, sizeof(T), Use::Update);
  o.vector(y, n, incy, sizeof(T), Use::Update);
  return o.run(true, [=] { fortran<T>("swap", &n, x, &incx, y, &incy); });
}

template <class T> Status dot(Operation o, int n, const T* x, int incx, const T* y, int incy, T* result) {
  o.vector(x, n, incx, sizeof(T), Use::Read);
  o.vector(y, n, incy, sizeof(T), Use::Read);
  o.scalar(result, sizeof(T), Use::Write);
  return o.run(result, [=] { *result = n > 0 ? fortran<T, T>("dot", &n, x, &incx, y, &incy) : T(); }, true);
}

/// nrm2 and asum
template <class T> Status sum(Operation o, const char* name, int n, const T* x, int incx, T* result) {
  o.vector(x, n, incx, sizeof(T), Use::Read);
  o.scalar(result, sizeof(T), Use::Write);
  return o.run(result, [=] { *result = n > 0 && incx > 0 ? fortran<T, T>(name, &n, x, &incx) : T(); }, true);
}

/// The number, from 1 on, of the first element with the largest or smallest magnitude.
template <class T> Status extreme(Operation o, bool smallest, int n, const T* x, int incx, int* result) {
  o.vector(x, n, incx, sizeof(T), Use::Read);
  o.scalar(result, sizeof(int), Use::Write);
  auto find = [=] {
    int best = n > 0 && incx > 0 ? 1 : 0;
    for (int i = 1; best && i < n; ++i) {
      T mine = std::fabs(x[std::ptrdiff_t{i} * incx]), other = std::fabs(x[std::ptrdiff_t{best - 1} * incx]);
      if (smallest ? mine < other : mine > other) best = i + 1;
    }
    *result = best;
  };
  return o.run(result, find, true);
}

template <class T>
Status gemv(Operation o, int trans, int m, int n, const T* alpha, const T* a, int lda, const T* x, int incx,
            const T* beta, T* y, int incy) {
  bool fits = isOperation(trans) && m >= 0 && n >= 0 && holds(lda, m) && incx && incy;
  bool device = o.scalarsOnDevice(), fresh = fits && !device && *beta == T();
  o.scalar(alpha, sizeof(T), Use::Read);
  o.scalar(beta, sizeof(T), Use::Read);
  o.matrix(a, m, n, lda, sizeof(T), Use::Read);
  o.vector(x, trans ? m : n, incx, sizeof(T), Use::Read);
  o.vector(y, trans ? n : m, incy, sizeof(T), fresh ? Use::Write : Use::Update);
  return o.run(fits, [=, hostAlpha = device ? T() : *alpha, hostBeta = device ? T() : *beta] {
    fortran<T>("gemv", transposition(trans), &m, &n, device ? alpha : &hostAlpha, a, &lda, x, &incx,
               device ? beta : &hostBeta, y, &incy, 1L);
  });
}

template <class T>
Status ger(Operation o, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy, T* a,
           int lda) {
  o.scalar(alpha, sizeof(T), Use::Read);
  o.vector(x, m, incx, sizeof(T), Use::Read);
  o.vector(y, n, incy, sizeof(T), Use::Read);
  o.matrix(a, m, n, lda, sizeof(T), Use::Update);
  bool device = o.scalarsOnDevice();
  return o.run(m >= 0 && n >= 0 && holds(lda, m) && incx && incy, [=, one = device ? T() : *alpha] {
    fortran<T>("ger", &m, &n, device ? alpha : &one, x, &incx, y, &incy, a, &lda);
  });
}

template <class T>
Status symv(Operation o, int fill, int n, const T* alpha, const T* a, int lda, const T* x, int incx,
            const T* beta, T* y, int incy) {
  bool fits = n >= 0 && holds(lda, n) && incx && incy, device = o.scalarsOnDevice();
  o.scalar(alpha, sizeof(T), Use::Read);
  o.scalar(beta, sizeof(T), Use::Read);
  o.triangle(a, n, lda, fill == 1, sizeof(T), Use::Read);
  o.vector(x, n, incx, sizeof(T), Use::Read);
  o.vector(y, n, incy, sizeof(T), !device && *beta == T() ? Use::Write : Use::Update);
  return o.run(fits, [=, hostAlpha = device ? T() : *alpha, hostBeta = device ? T() : *beta] {
    fortran<T>("symv", half(fill), &n, device ? alpha : &hostAlpha, a, &lda, x, &incx,
               device ? beta : &hostBeta, y, &incy, 1L);
  });
}

/// trsv and trmv
template <class T>
Status triangular(Operation o, const char* name, int fill, int trans, int unit, int n, const T* a, int lda,
                  T* x, int incx) {
  o.triangle(a, n, lda, fill == 1, sizeof(T), Use::Read);
  o.vector(x, n, incx, sizeof(T), Use::Update);
  return o.run(isOperation(trans) && n >= 0 && holds(lda, n) && incx, [=] {
    fortran<T>(name, half(fill), transposition(trans), diagonal(unit), &n, a, &lda, x, &incx, 1L, 1L, 1L);
  });
}

} // namespace
} // namespace kcheck::runtime::blas

using namespace kcheck::runtime::blas;

#define KC_OPERATION(name) Operation(handle, name, __builtin_return_address(0))

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type
#define KC_BLAS(S, T, lower)                                                                                 \
  Status cublas##S##axpy_v2(void* handle, int n, const T* alpha, const T* x, int incx, T* y, int incy) {     \
    return axpy<T>(KC_OPERATION("cublas" #S "axpy"), n, alpha, x, incx, y, incy);                            \
  }                                                                                                          \
  Status cublas##S##scal_v2(void* handle, int n, const T* alpha, T* x, int incx) {                           \
    return scal<T>(KC_OPERATION("cublas" #S "scal"), n, alpha, x, incx);                                     \
  }                                                                                                          \
  Status cublas##S##copy_v2(void* handle, int n, const T* x, int incx, T* y, int incy) {                     \
    return copy<T>(KC_OPERATION("cublas" #S "copy"), n, x, incx, y, incy);                                   \
  }                                                                                                          \
  Status cublas##S##swap_v2(void* handle, int n, T* x, int incx, T* y, int incy) {                           \
    return swap<T>(KC_OPERATION("cublas" #S "swap"), n, x, incx, y, incy);                                   \
  }                                                                                                          \
  Status cublas##S##dot_v2(void* handle, int n, const T* x, int incx, const T* y, int incy, T* result) {     \
    return dot<T>(KC_OPERATION("cublas" #S "dot"), n, x, incx, y, incy, result);                             \
  }                                                                                                          \
  Status cublas##S##nrm2_v2(void* handle, int n, const T* x, int incx, T* result) {                          \
    return sum<T>(KC_OPERATION("cublas" #S "nrm2"), "nrm2", n, x, incx, result);                             \
  }                                                                                                          \
  Status cublas##S##asum_v2(void* handle, int n, const T* x, int incx, T* result) {                          \
    return sum<T>(KC_OPERATION("cublas" #S "asum"), "asum", n, x, incx, result);                             \
  }                                                                                                          \
  Status cublasI##lower##amax_v2(void* handle, int n, const T* x, int incx, int* result) {                   \
    return extreme<T>(KC_OPERATION("cublasI" #lower "amax"), false, n, x, incx, result);                     \
  }                                                                                                          \
  Status cublasI##lower##amin_v2(void* handle, int n, const T* x, int incx, int* result) {                   \
    return extreme<T>(KC_OPERATION("cublasI" #lower "amin"), true, n, x, incx, result);                      \
  }                                                                                                          \
  Status cublas##S##gemv_v2(void* handle, int trans, int m, int n, const T* alpha, const T* a, int lda,      \
                            const T* x, int incx, const T* beta, T* y, int incy) {                           \
    return gemv<T>(KC_OPERATION("cublas" #S "gemv"), trans, m, n, alpha, a, lda, x, incx, beta, y, incy);    \
  }                                                                                                          \
  Status cublas##S##ger_v2(void* handle, int m, int n, const T* alpha, const T* x, int incx, const T* y,     \
                           int incy, T* a, int lda) {                                                        \
    return ger<T>(KC_OPERATION("cublas" #S "ger"), m, n, alpha, x, incx, y, incy, a, lda);                   \
  }                                                                                                          \
  Status cublas##S##symv_v2(void* handle, int fill, int n, const T* alpha, const T* a, int lda, const T* x,  \
                            int incx, const T* beta, T* y, int incy) {                                       \
    return symv<T>(KC_OPERATION("cublas" #S "symv"), fill, n, alpha, a, lda, x, incx, beta, y, incy);        \
  }                                                                                                          \
  Status cublas##S##trsv_v2(void* handle, int fill, int trans, int unit, int n, const T* a, int lda, T* x,   \
                            int incx) {                                                                      \
    return triangular<T>(KC_OPERATION("cublas" #S "trsv"), "trsv", fill, trans, unit, n, a, lda, x, incx);   \
  }                                                                                                          \
  Status cublas##S##trmv_v2(void* handle, int fill, int trans, int unit, int n, const T* a, int lda, T* x,   \
                            int incx) {                                                                      \
    return triangular<T>(KC_OPERATION("cublas" #S "trmv"), "trmv", fill, trans, unit, n, a, lda, x, incx);   \
  }

// NOLINTEND(bugprone-macro-parentheses)

extern "C" {
KC_BLAS(S, float, s)
KC_BLAS(D, double, d)
}
