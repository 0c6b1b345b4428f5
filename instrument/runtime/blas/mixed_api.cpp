// cublasGemmEx and its batched forms: products of matrices whose types are told by number. Float, double and
// complex ones go to BLAS as they are; halves and bfloat16 are widened to float, multiplied, and rounded once
// at the end.
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

/// The matrices of one product; a call has many of them.
struct Matrices {
  const void *a, *b;
  void* c;
};

Status products(Operation o, const Product& p, const void* alpha, const void* beta,
                const std::vector<Matrices>& all) {
  o.scalar(alpha, bytesOf(p.scale), Use::Read);
  o.scalar(beta, bytesOf(p.scale), Use::Read);
  bool device = o.scalarsOnDevice(), fits = p.fits();
  for (const Matrices& one : fits ? all : std::vector<Matrices>()) {
    o.matrix(one.a, p.rowsA(), p.columnsA(), p.lda, bytesOf(p.a), Use::Read);
    o.matrix(one.b, p.rowsB(), p.columnsB(), p.ldb, bytesOf(p.b), Use::Read);
    o.matrix(one.c, p.m, p.n, p.ldc, bytesOf(p.c),
             !device && isZero(beta, p.scale) ? Use::Write : Use::Update);
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
    for (const auto& [a, b, c] : all) switch (p.a) {
      case Type::Float: multiply<float>(p, one, a, b, two, c); break;
      case Type::Double: multiply<double>(p, one, a, b, two, c); break;
      case Type::Complex: multiply<std::complex<float>>(p, one, a, b, two, c); break;
      case Type::DoubleComplex: multiply<std::complex<double>>(p, one, a, b, two, c); break;
      default: multiplyNarrow(p, one, a, b, two, c);
      }
  });
}

/// At equal distances, in elements; a distance of zero takes the same matrix each time.
Status strided(Operation o, const Product& p, const void* alpha, const void* beta, const Matrices& first,
               long long stepA, long long stepB, long long stepC, int count) {
  if (count < 0) return Status::InvalidValue;
  auto moved = [](const void* base, Type type, long long elements) {
    return static_cast<const char*>(base) + elements * static_cast<long long>(bytesOf(type));
  };
  std::vector<Matrices> all;
  for (int i = 0; i < count; ++i)
    all.push_back({moved(first.a, p.a, i * stepA), moved(first.b, p.b, i * stepB),
                   const_cast<char*>(moved(first.c, p.c, i * stepC))});
  return products(std::move(o), p, alpha, beta, all);
}

/// By arrays of pointers, which lie in device memory.
Status batched(Operation o, const Product& p, const void* alpha, const void* beta, const void* const* a,
               const void* const* b, void* const* c, int count) {
  if (count < 0) return Status::InvalidValue;
  for (const void* pointers :
       {static_cast<const void*>(a), static_cast<const void*>(b), static_cast<const void*>(c)})
    o.vector(pointers, count, 1, sizeof(void*), Use::Read);
  std::vector<const void*> pointers;
  if (!o.collect(a, count, pointers) || !o.collect(b, count, pointers) ||
      !o.collect(const_cast<const void* const*>(c), count, pointers))
    return o.run(true, [] {});
  const auto total = static_cast<std::size_t>(count);
  std::vector<Matrices> all;
  for (std::size_t i = 0; i < total; ++i)
    all.push_back({pointers[i], pointers[total + i], const_cast<void*>(pointers[2 * total + i])});
  return products(std::move(o), p, alpha, beta, all);
}

} // namespace
} // namespace kcheck::runtime::blas

using namespace kcheck::runtime::blas;

#define KC_OPERATION(name) Operation(handle, name, __builtin_return_address(0))
/// The product that a call's numbers describe; returns where kcheck does not have its types.
#define KC_PRODUCT(name)                                                                                     \
  bool known = true;                                                                                         \
  Product p{ta, tb, m, n, k, lda, ldb, ldc, typeA, typeB, typeC, scaleOf(compute, typeC, known)};            \
  if (!known || !isKnown(p)) {                                                                               \
    kcheck::runtime::api::reportUnsupported(name " with these types", __builtin_return_address(0));          \
    return Status::NotSupported;                                                                             \
  }

extern "C" {

Status cublasGemmEx(void* handle, int ta, int tb, int m, int n, int k, const void* alpha, const void* a,
                    Type typeA, int lda, const void* b, Type typeB, int ldb, const void* beta, void* c,
                    Type typeC, int ldc, int compute, int /*algorithm*/) {
  KC_PRODUCT("cublasGemmEx")
  return products(KC_OPERATION("cublasGemmEx"), p, alpha, beta, {{a, b, c}});
}

Status cublasGemmStridedBatchedEx(void* handle, int ta, int tb, int m, int n, int k, const void* alpha,
                                  const void* a, Type typeA, int lda, long long stepA, const void* b,
                                  Type typeB, int ldb, long long stepB, const void* beta, void* c, Type typeC,
                                  int ldc, long long stepC, int count, int compute, int /*algorithm*/) {
  KC_PRODUCT("cublasGemmStridedBatchedEx")
  return strided(KC_OPERATION("cublasGemmStridedBatchedEx"), p, alpha, beta, {a, b, c}, stepA, stepB, stepC,
                 count);
}

Status cublasGemmBatchedEx(void* handle, int ta, int tb, int m, int n, int k, const void* alpha,
                           const void* const* a, Type typeA, int lda, const void* const* b, Type typeB,
                           int ldb, const void* beta, void* const* c, Type typeC, int ldc, int count,
                           int compute, int /*algorithm*/) {
  KC_PRODUCT("cublasGemmBatchedEx")
  return batched(KC_OPERATION("cublasGemmBatchedEx"), p, alpha, beta, a, b, c, count);
}

Status cublasHgemm(void* handle, int ta, int tb, int m, int n, int k, const void* alpha, const void* a,
                   int lda, const void* b, int ldb, const void* beta, void* c, int ldc) {
  Product p{ta, tb, m, n, k, lda, ldb, ldc, Type::Half, Type::Half, Type::Half, Type::Half};
  return products(KC_OPERATION("cublasHgemm"), p, alpha, beta, {{a, b, c}});
}

Status cublasHgemmStridedBatched(void* handle, int ta, int tb, int m, int n, int k, const void* alpha,
                                 const void* a, int lda, long long stepA, const void* b, int ldb,
                                 long long stepB, const void* beta, void* c, int ldc, long long stepC,
                                 int count) {
  Product p{ta, tb, m, n, k, lda, ldb, ldc, Type::Half, Type::Half, Type::Half, Type::Half};
  return strided(KC_OPERATION("cublasHgemmStridedBatched"), p, alpha, beta, {a, b, c}, stepA, stepB, stepC,
                 count);
}

Status cublasHgemmBatched(void* handle, int ta, int tb, int m, int n, int k, const void* alpha,
                          const void* const* a, int lda, const void* const* b, int ldb, const void* beta,
                          void* const* c, int ldc, int count) {
  Product p{ta, tb, m, n, k, lda, ldb, ldc, Type::Half, Type::Half, Type::Half, Type::Half};
  return batched(KC_OPERATION("cublasHgemmBatched"), p, alpha, beta, a, b, c, count);
}
}
