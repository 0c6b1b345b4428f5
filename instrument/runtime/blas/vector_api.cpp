// cuBLAS level 1 and 2, float and double, real and complex. Each function names what it reads and writes,
// then calls BLAS.
#include "instrument/runtime/blas/calls.h"

#include <cmath>
#include <type_traits>

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

/// The name of a routine for complex numbers with real ones beside them: `sc` and nrm2, `cs` and scal.
template <class T, class R> std::string mixed(const char* name, bool resultFirst) {
  std::string letter(1, kLetter<T>);
  if (!std::is_same_v<T, R>) letter.insert(resultFirst ? 0 : 1, 1, kLetter<R>);
  return letter + name;
}

template <class T, class R = T> Status scal(Operation o, int n, const R* alpha, T* x, int incx) {
  o.scalar(alpha, sizeof(R), Use::Read);
  o.vector(x, n, incx, sizeof(T), Use::Update);
  return o.run(true, [=, a = o.scalarsOnDevice() ? R() : *alpha, device = o.scalarsOnDevice()] {
    named<void>(mixed<T, R>("scal", false), &n, device ? alpha : &a, x, &incx);
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

template <class T>
Status dot(Operation o, const char* name, int n, const T* x, int incx, const T* y, int incy, T* result) {
  o.vector(x, n, incx, sizeof(T), Use::Read);
  o.vector(y, n, incy, sizeof(T), Use::Read);
  o.scalar(result, sizeof(T), Use::Write);
  return o.run(result, [=] { *result = n > 0 ? fortran<T, T>(name, &n, x, &incx, y, &incy) : T(); }, true);
}

/// nrm2 and asum
template <class T, class R = T>
Status sum(Operation o, const char* name, int n, const T* x, int incx, R* result) {
  o.vector(x, n, incx, sizeof(T), Use::Read);
  o.scalar(result, sizeof(R), Use::Write);
  auto work = [=] { *result = n > 0 && incx > 0 ? named<R>(mixed<T, R>(name, true), &n, x, &incx) : R(); };
  return o.run(result, work, true);
}

template <class T> T size(T value) { return std::fabs(value); }
/// As BLAS has it: |re| + |im|.
template <class T> T size(std::complex<T> value) { return std::fabs(value.real()) + std::fabs(value.imag()); }

/// The number, from 1 on, of the first element with the largest or smallest magnitude.
template <class T> Status extreme(Operation o, bool smallest, int n, const T* x, int incx, int* result) {
  o.vector(x, n, incx, sizeof(T), Use::Read);
  o.scalar(result, sizeof(int), Use::Write);
  auto find = [=] {
    int best = n > 0 && incx > 0 ? 1 : 0;
    for (int i = 1; best && i < n; ++i) {
      auto mine = size(x[std::ptrdiff_t{i} * incx]), other = size(x[std::ptrdiff_t{best - 1} * incx]);
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
Status ger(Operation o, const char* name, int m, int n, const T* alpha, const T* x, int incx, const T* y,
           int incy, T* a, int lda) {
  o.scalar(alpha, sizeof(T), Use::Read);
  o.vector(x, m, incx, sizeof(T), Use::Read);
  o.vector(y, n, incy, sizeof(T), Use::Read);
  o.matrix(a, m, n, lda, sizeof(T), Use::Update);
  bool device = o.scalarsOnDevice();
  return o.run(m >= 0 && n >= 0 && holds(lda, m) && incx && incy, [=, one = device ? T() : *alpha] {
    fortran<T>(name, &m, &n, device ? alpha : &one, x, &incx, y, &incy, a, &lda);
  });
}

template <class T>
Status symv(Operation o, const char* name, int fill, int n, const T* alpha, const T* a, int lda, const T* x,
            int incx, const T* beta, T* y, int incy) {
  bool fits = n >= 0 && holds(lda, n) && incx && incy, device = o.scalarsOnDevice();
  o.scalar(alpha, sizeof(T), Use::Read);
  o.scalar(beta, sizeof(T), Use::Read);
  o.triangle(a, n, lda, fill == 1, sizeof(T), Use::Read);
  o.vector(x, n, incx, sizeof(T), Use::Read);
  o.vector(y, n, incy, sizeof(T), !device && *beta == T() ? Use::Write : Use::Update);
  return o.run(fits, [=, hostAlpha = device ? T() : *alpha, hostBeta = device ? T() : *beta] {
    fortran<T>(name, half(fill), &n, device ? alpha : &hostAlpha, a, &lda, x, &incx,
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
#define KC_BLAS(S, T)                                                                                        \
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
  Status cublas##S##gemv_v2(void* handle, int trans, int m, int n, const T* alpha, const T* a, int lda,      \
                            const T* x, int incx, const T* beta, T* y, int incy) {                           \
    return gemv<T>(KC_OPERATION("cublas" #S "gemv"), trans, m, n, alpha, a, lda, x, incx, beta, y, incy);    \
  }                                                                                                          \
  Status cublas##S##trsv_v2(void* handle, int fill, int trans, int unit, int n, const T* a, int lda, T* x,   \
                            int incx) {                                                                      \
    return triangular<T>(KC_OPERATION("cublas" #S "trsv"), "trsv", fill, trans, unit, n, a, lda, x, incx);   \
  }                                                                                                          \
  Status cublas##S##trmv_v2(void* handle, int fill, int trans, int unit, int n, const T* a, int lda, T* x,   \
                            int incx) {                                                                      \
    return triangular<T>(KC_OPERATION("cublas" #S "trmv"), "trmv", fill, trans, unit, n, a, lda, x, incx);   \
  }

#define KC_REAL(S, T, lower)                                                                                 \
  Status cublas##S##dot_v2(void* handle, int n, const T* x, int incx, const T* y, int incy, T* result) {     \
    return dot<T>(KC_OPERATION("cublas" #S "dot"), "dot", n, x, incx, y, incy, result);                      \
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
  Status cublas##S##ger_v2(void* handle, int m, int n, const T* alpha, const T* x, int incx, const T* y,     \
                           int incy, T* a, int lda) {                                                        \
    return ger<T>(KC_OPERATION("cublas" #S "ger"), "ger", m, n, alpha, x, incx, y, incy, a, lda);            \
  }                                                                                                          \
  Status cublas##S##symv_v2(void* handle, int fill, int n, const T* alpha, const T* a, int lda, const T* x,  \
                            int incx, const T* beta, T* y, int incy) {                                       \
    return symv<T>(KC_OPERATION("cublas" #S "symv"), "symv", fill, n, alpha, a, lda, x, incx, beta, y,       \
                   incy);                                                                                    \
  }

/// `r`, `rs`: the letters of functions that take or give real numbers as well (Csscal, Scnrm2).
#define KC_COMPLEX(S, T, R, r, rs, lower)                                                                    \
  Status cublas##S##dotu_v2(void* handle, int n, const T* x, int incx, const T* y, int incy, T* result) {    \
    return dot<T>(KC_OPERATION("cublas" #S "dotu"), "dotu", n, x, incx, y, incy, result);                    \
  }                                                                                                          \
  Status cublas##S##dotc_v2(void* handle, int n, const T* x, int incx, const T* y, int incy, T* result) {    \
    return dot<T>(KC_OPERATION("cublas" #S "dotc"), "dotc", n, x, incx, y, incy, result);                    \
  }                                                                                                          \
  Status cublas##S##r##scal_v2(void* handle, int n, const R* alpha, T* x, int incx) {                        \
    return scal<T, R>(KC_OPERATION("cublas" #S #r "scal"), n, alpha, x, incx);                               \
  }                                                                                                          \
  Status cublas##rs##nrm2_v2(void* handle, int n, const T* x, int incx, R* result) {                         \
    return sum<T, R>(KC_OPERATION("cublas" #rs "nrm2"), "nrm2", n, x, incx, result);                         \
  }                                                                                                          \
  Status cublas##rs##asum_v2(void* handle, int n, const T* x, int incx, R* result) {                         \
    return sum<T, R>(KC_OPERATION("cublas" #rs "asum"), "asum", n, x, incx, result);                         \
  }                                                                                                          \
  Status cublasI##lower##amax_v2(void* handle, int n, const T* x, int incx, int* result) {                   \
    return extreme<T>(KC_OPERATION("cublasI" #lower "amax"), false, n, x, incx, result);                     \
  }                                                                                                          \
  Status cublasI##lower##amin_v2(void* handle, int n, const T* x, int incx, int* result) {                   \
    return extreme<T>(KC_OPERATION("cublasI" #lower "amin"), true, n, x, incx, result);                      \
  }                                                                                                          \
  Status cublas##S##geru_v2(void* handle, int m, int n, const T* alpha, const T* x, int incx, const T* y,    \
                            int incy, T* a, int lda) {                                                       \
    return ger<T>(KC_OPERATION("cublas" #S "geru"), "geru", m, n, alpha, x, incx, y, incy, a, lda);          \
  }                                                                                                          \
  Status cublas##S##gerc_v2(void* handle, int m, int n, const T* alpha, const T* x, int incx, const T* y,    \
                            int incy, T* a, int lda) {                                                       \
    return ger<T>(KC_OPERATION("cublas" #S "gerc"), "gerc", m, n, alpha, x, incx, y, incy, a, lda);          \
  }                                                                                                          \
  Status cublas##S##hemv_v2(void* handle, int fill, int n, const T* alpha, const T* a, int lda, const T* x,  \
                            int incx, const T* beta, T* y, int incy) {                                       \
    return symv<T>(KC_OPERATION("cublas" #S "hemv"), "hemv", fill, n, alpha, a, lda, x, incx, beta, y,       \
                   incy);                                                                                    \
  }

// NOLINTEND(bugprone-macro-parentheses)

extern "C" {
KC_BLAS(S, float)
KC_BLAS(D, double)
KC_BLAS(C, std::complex<float>)
KC_BLAS(Z, std::complex<double>)
KC_REAL(S, float, s)
KC_REAL(D, double, d)
KC_COMPLEX(C, std::complex<float>, float, s, Sc, c)
KC_COMPLEX(Z, std::complex<double>, double, d, Dz, z)
}
