// The arithmetic of expressions on concrete values, the one definition that the simplifier, the evaluator and
// the tests share. Total: division by zero and wide shifts have the values that SMT-LIB gives them.
#pragma once

#include "analyzer/expr/expr.h"

namespace kcheck::analyzer {

/// The value of `op` (Add..Xor, or a comparison) on operands of `width` bits, normalised for the result.
std::int64_t fold(Op op, unsigned width, std::int64_t a, std::int64_t b);
/// The value of ZExt, SExt or Trunc from one width to another.
std::int64_t foldExtend(Op op, unsigned to, unsigned from, std::int64_t a);

inline bool isComparison(Op op) { return op >= Op::Eq && op <= Op::Sle; }
inline bool isBinary(Op op) { return (op >= Op::Add && op <= Op::Xor) || isComparison(op); }
inline bool isExtension(Op op) { return op >= Op::ZExt && op <= Op::Trunc; }
inline bool isCommutative(Op op) {
  return op == Op::Add || op == Op::Mul || op == Op::And || op == Op::Or || op == Op::Xor || op == Op::Eq;
}
/// The least and the greatest signed number of `width` bits.
inline Int signedMin(unsigned width) { return -(Int(1) << (width - 1)); }
inline Int signedMax(unsigned width) { return (Int(1) << (width - 1)) - 1; }
inline Int powerOfTwo(unsigned exponent) { return Int(1) << exponent; }
inline bool isPowerOfTwo(std::uint64_t v) { return v && !(v & (v - 1)); }

} // namespace kcheck::analyzer
