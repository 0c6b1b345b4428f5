// CUDA's integer functions (`min`, `abs`, `__mulhi`, `__clz`, `__ffs`, `__popc`, `__brev`), written out in
// the operations that expressions have, so that what hangs on them is exact.
#pragma once

#include "analyzer/expr/expr.h"

namespace kcheck::analyzer {

/// The lesser of both, or the greater.
Expr minimumOrMaximum(ExprContext& exprs, Expr a, Expr b, bool isSigned, bool minimum);
Expr absoluteValue(ExprContext& exprs, Expr x);
/// The upper half of the product of two numbers of 32 bits; null for others.
Expr highProduct(ExprContext& exprs, Expr a, Expr b, bool isSigned);
/// Half the sum of 32-bit numbers, as if it were made in more bits.
Expr halfSum(ExprContext& exprs, Expr a, Expr b, bool isSigned, bool roundsUp);
/// How far two numbers are apart, without a sign.
Expr difference(ExprContext& exprs, Expr a, Expr b, bool isSigned);
/// The lower 24 of 32 bits as a number.
Expr lowest24(ExprContext& exprs, Expr x, bool isSigned);
/// The zero bits above the highest one; all of them where there is none. 32 bit, of 32 or 64.
Expr leadingZeros(ExprContext& exprs, Expr x);
/// Where the lowest bit is, counted from 1; 0 where there is none. 32 bit, of 32 or 64.
Expr firstSetBit(ExprContext& exprs, Expr x);
/// How many bits are set. 32 bit, of 32 or 64.
Expr setBits(ExprContext& exprs, Expr x);
/// `__byte_perm`; null where the selector is no constant.
Expr permutedBytes(ExprContext& exprs, Expr low, Expr high, Expr selector);
/// The bits of `a` in reverse order, written out one by one; null where too many can be set.
Expr reversedBits(ExprContext& exprs, Expr a);

} // namespace kcheck::analyzer
