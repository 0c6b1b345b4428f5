// cublasGemmEx: the product of matrices whose types are told by number. Float, double and complex ones go to
// BLAS as they are; halves and bfloat16 are widened to float, multiplied, and rounded once at the end.
#include "instrument/runtime/blas/calls.h"

#include "instrument/runtime/api/reports.h"

#include <bit>
#include <cstdint>
#include <vector>

extern "C" {
unsigned short __nv_float2half_rn(float); // runtime/math
float __nv_half2float(unsigned);
}

namespace kcheck::runtime::blas {
namespace {

/// cudaDataType
enum class Type : int { Float = 0, Double = 1, Half = 2, Complex = 4, DoubleComplex = 5, BFloat = 14 };

std::size_t bytesOf(Type type) {
  switch (type) {
  case Type::Half:
  case Type::BFloat: return 2;
  case Type::Float: return 4;
  case Type::Double:
  case Type::Complex: return 8;
  case Type::DoubleComplex: return 16;
  }
  return 0;
}

bool isNarrow(Type type) { return type == Type::Half || type == Type::BFloat; }

float widened(const void* from, Type type, std::ptrdiff_t index) {
  if (type == Type::Float) return static_cast<const float*>(from)[index];
  unsigned bits = static_cast<const std::uint16_t*>(from)[index];
  return type == Type::Half ? __nv_half2float(bits) : std::bit_cast<float>(bits << 16);
}

void store(void* to, Type type, std::ptrdiff_t index, float value) {
  if (type == Type::Float) {
    static_cast<float*>(to)[index] = value;
    return;
  }
  auto bits = std::bit_cast<std::uint32_t>(value);
  std::uint32_t even = bits + 0x7FFF + (bits >> 16 & 1);
  if (value != value) even = bits | 0x400000;
  auto narrow = type == Type::Half ? __nv_float2half_rn(value) : static_cast<std::uint16_t>(even >> 16);
  static_cast<std::uint16_t*>(to)[index] = narrow;
}

struct Product {
  int transA, transB, m, n, k, lda, ldb, ldc;
  Type a, b, c, scale;
  int rowsA() const { return transA ? k : m; }
  int columnsA() const { return transA ? m : k; }
  int rowsB() const { return transB ? n : k; }
  int columnsB() const { return transB ? k : n; }
  bool fits() const {
    return isOperation(transA) && isOperation(transB) && m >= 0 && n >= 0 && k >= 0 && holds(lda, rowsA()) &&
           holds(ldb, rowsB()) && holds(ldc, m);
  }
};

template <class T>
void multiply(const Product& p, const void* alpha, const void* a, const void* b, const void* beta, void* c) {
  fortran<T>("gemm", transposition(p.transA), transposition(p.transB), &p.m, &p.n, &p.k,
             static_cast<const T*>(alpha), static_cast<const T*>(a), &p.lda, static_cast<const T*>(b), &p.ldb,
             static_cast<const T*>(beta), static_cast<T*>(c), &p.ldc, 1L, 1L);
}

std::vector<float> widenedMatrix(const void* from, Type type, int rows, int columns, int distance) {
  std::vector<float> wide(static_cast<std::size_t>(distance) *
                          static_cast<std::size_t>(std::max(columns, 0)));
  for (std::ptrdiff_t column = 0; column < columns; ++column)
    for (std::ptrdiff_t row = 0; row < rows; ++row)
      wide[static_cast<std::size_t>(column * distance + row)] = widened(from, type, column * distance + row);
  return wide;
}

/// By way of floats.
void multiplyNarrow(const Product& p, const void* alpha, const void* a, const void* b, const void* beta,
                    void* c) {
  float wideAlpha = widened(alpha, p.scale, 0), wideBeta = widened(beta, p.scale, 0);
  std::vector<float> wideA = widenedMatrix(a, p.a, p.rowsA(), p.columnsA(), p.lda);
  std::vector<float> wideB = widenedMatrix(b, p.b, p.rowsB(), p.columnsB(), p.ldb);
  std::vector<float> wideC = widenedMatrix(c, p.c, p.m, wideBeta == 0 ? 0 : p.n, p.ldc);
  wideC.resize(static_cast<std::size_t>(p.ldc) * static_cast<std::size_t>(p.n));
  multiply<float>(p, &wideAlpha, wideA.data(), wideB.data(), &wideBeta, wideC.data());
  for (std::ptrdiff_t column = 0; column < p.n; ++column)
    for (std::ptrdiff_t row = 0; row < p.m; ++row)
      store(c, p.c, column * p.ldc + row, wideC[static_cast<std::size_t>(column * p.ldc + row)]);
}

/// The type of alpha and beta, by cublasComputeType_t; `known` becomes false for integers.
Type scaleOf(int compute, Type result, bool& known) {
  constexpr int half = 64, halfPedantic = 65, doubles = 70, doublePedantic = 71, integer = 72,
                integerPedantic = 73;
  if (compute == half || compute == halfPedantic) return Type::Half;
  if (compute == doubles || compute == doublePedantic)
    return result == Type::DoubleComplex ? Type::DoubleComplex : Type::Double;
  known = compute != integer && compute != integerPedantic && compute > half;
  return result == Type::Complex ? Type::Complex : Type::Float;
}

/// The combinations that cuBLAS documents, but those of integers.
bool isKnown(const Product& p) {
  if (p.a != p.b) return false;
  if (p.a == p.c && p.scale == p.a) return bytesOf(p.a) != 0 && p.a != Type::BFloat;
  return isNarrow(p.a) && p.scale == Type::Float && (p.c == p.a || p.c == Type::Float);
}

bool isZero(const void* factor, Type type) {
  const auto* bytes = static_cast<const unsigned char*>(factor);
  return std::all_of(bytes, bytes + bytesOf(type), [](unsigned char byte) { return byte == 0; });
}

Status product(Operation o, const Product& p, const void* alpha, const void* a, const void* b,
               const void* beta, void* c) {
  o.scalar(alpha, bytesOf(p.scale), Use::Read);
  o.scalar(beta, bytesOf(p.scale), Use::Read);
  bool device = o.scalarsOnDevice(), fits = p.fits();
  if (fits) {
    o.matrix(a, p.rowsA(), p.columnsA(), p.lda, bytesOf(p.a), Use::Read);
    o.matrix(b, p.rowsB(), p.columnsB(), p.ldb, bytesOf(p.b), Use::Read);
    o.matrix(c, p.m, p.n, p.ldc, bytesOf(p.c), !device && isZero(beta, p.scale) ? Use::Write : Use::Update);
  }
  // Kept until the work is done: a stream under capture does it later.
  struct Factors {
    alignas(16) unsigned char alpha[16]{}, beta[16]{};
  } host;
  if (!device) {
    std::copy_n(static_cast<const unsigned char*>(alpha), bytesOf(p.scale), host.alpha);
    std::copy_n(static_cast<const unsigned char*>(beta), bytesOf(p.scale), host.beta);
  }
  return o.run(fits, [=] {
    const void *one = device ? alpha : host.alpha, *two = device ? beta : host.beta;
    switch (p.a) {
    case Type::Float: return multiply<float>(p, one, a, b, two, c);
    case Type::Double: return multiply<double>(p, one, a, b, two, c);
    case Type::Complex: return multiply<std::complex<float>>(p, one, a, b, two, c);
    case Type::DoubleComplex: return multiply<std::complex<double>>(p, one, a, b, two, c);
    default: return multiplyNarrow(p, one, a, b, two, c);
    }
  });
}

} // namespace
} // namespace kcheck::runtime::blas

using namespace kcheck::runtime::blas;

extern "C" {

Status cublasGemmEx(void* handle, int ta, int tb, int m, int n, int k, const void* alpha, const void* a,
                    Type typeA, int lda, const void* b, Type typeB, int ldb, const void* beta, void* c,
                    Type typeC, int ldc, int compute, int /*algorithm*/) {
  bool known = true;
  Product p{ta, tb, m, n, k, lda, ldb, ldc, typeA, typeB, typeC, scaleOf(compute, typeC, known)};
  if (!known || !isKnown(p)) {
    kcheck::runtime::api::reportUnsupported("cublasGemmEx with these types", __builtin_return_address(0));
    return Status::NotSupported;
  }
  return product(Operation(handle, "cublasGemmEx", __builtin_return_address(0)), p, alpha, a, b, beta, c);
}

Status cublasHgemm(void* handle, int ta, int tb, int m, int n, int k, const void* alpha, const void* a,
                   int lda, const void* b, int ldb, const void* beta, void* c, int ldc) {
  Product p{ta, tb, m, n, k, lda, ldb, ldc, Type::Half, Type::Half, Type::Half, Type::Half};
  return product(Operation(handle, "cublasHgemm", __builtin_return_address(0)), p, alpha, a, b, beta, c);
}
}
