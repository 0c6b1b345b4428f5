// Concrete arithmetic on values of 1 to 64 bits.
#include "analyzer/expr/fold.h"

#include <bit>
#include <cassert>

namespace kcheck::analyzer {

std::int64_t signExtend(std::int64_t value, unsigned width) {
  if (width >= 64) return value;
  std::uint64_t sign = std::uint64_t(1) << (width - 1);
  std::uint64_t low = std::uint64_t(value) & ((std::uint64_t(1) << width) - 1);
  return std::int64_t((low ^ sign) - sign);
}

std::uint64_t zeroExtend(std::int64_t value, unsigned width) {
  if (width >= 64) return std::uint64_t(value);
  return std::uint64_t(value) & ((std::uint64_t(1) << width) - 1);
}

std::int64_t normalize(std::int64_t value, unsigned width) {
  return width == 1 ? (value & 1) : signExtend(value, width);
}

static std::int64_t divide(Op op, unsigned width, std::int64_t a, std::int64_t b) {
  std::uint64_t ua = zeroExtend(a, width), ub = zeroExtend(b, width);
  Int sa = signExtend(a, width), sb = signExtend(b, width);
  switch (op) {
  case Op::UDiv: return ub ? std::int64_t(ua / ub) : -1;
  case Op::URem: return ub ? std::int64_t(ua % ub) : a;
  case Op::SDiv: return sb ? std::int64_t(sa / sb) : (sa < 0 ? 1 : -1);
  default: return sb ? std::int64_t(sa % sb) : a;
  }
}

static std::int64_t shift(Op op, unsigned width, std::int64_t a, std::int64_t b) {
  std::uint64_t amount = zeroExtend(b, width), ua = zeroExtend(a, width);
  std::int64_t sa = signExtend(a, width);
  if (amount >= width) return op == Op::AShr && sa < 0 ? -1 : 0;
  if (op == Op::Shl) return std::int64_t(ua << amount);
  if (op == Op::LShr) return std::int64_t(ua >> amount);
  return sa >> amount;
}

std::int64_t fold(Op op, unsigned width, std::int64_t a, std::int64_t b) {
  std::int64_t sa = signExtend(a, width), sb = signExtend(b, width);
  std::uint64_t ua = zeroExtend(a, width), ub = zeroExtend(b, width);
  switch (op) {
  case Op::Add: return normalize(std::int64_t(ua + ub), width);
  case Op::Mul: return normalize(std::int64_t(ua * ub), width);
  case Op::UDiv:
  case Op::SDiv:
  case Op::URem:
  case Op::SRem: return normalize(divide(op, width, a, b), width);
  case Op::Shl:
  case Op::LShr:
  case Op::AShr: return normalize(shift(op, width, a, b), width);
  case Op::And: return normalize(a & b, width);
  case Op::Or: return normalize(a | b, width);
  case Op::Xor: return normalize(a ^ b, width);
  case Op::Eq: return ua == ub;
  case Op::Ult: return ua < ub;
  case Op::Ule: return ua <= ub;
  case Op::Slt: return sa < sb;
  case Op::Sle: return sa <= sb;
  default: assert(false && "not a binary operation"); return 0;
  }
}

std::int64_t foldExtend(Op op, unsigned to, unsigned from, std::int64_t a) {
  if (op == Op::ZExt) return normalize(std::int64_t(zeroExtend(a, from)), to);
  if (op == Op::SExt) return normalize(signExtend(a, from), to);
  return normalize(a, to);
}

} // namespace kcheck::analyzer
