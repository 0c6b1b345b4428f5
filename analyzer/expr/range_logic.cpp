// Ranges of comparisons and choices.
#include "analyzer/expr/range_parts.h"

#include <algorithm>

namespace kcheck::analyzer {

Range Ranges::comparison(Expr e) {
  Expr x = e->operands[0], y = e->operands[1];
  bool isUnsigned = e->op == Op::Ult || e->op == Op::Ule;
  Range a = isUnsigned ? unsignedOf(x) : of(x), b = isUnsigned ? unsignedOf(y) : of(y);
  auto answer = [](bool always, bool never) { return Range{always ? 1 : 0, never ? 0 : 1, 1}; };
  switch (e->op) {
  case Op::Eq: {
    bool impossible = a.hi < b.lo || b.hi < a.lo;
    if (isConst(y) && (zeroExtend(y->value, y->width) & ~a.maybe)) impossible = true;
    return answer(a.isConstant() && b.isConstant() && a.lo == b.lo, impossible);
  }
  case Op::Ult:
  case Op::Slt: return answer(a.hi < b.lo, a.lo >= b.hi);
  default: return answer(a.hi <= b.lo, a.lo > b.hi);
  }
}

Range Ranges::choice(Expr e) {
  Expr c = e->operands[0], x = e->operands[1], y = e->operands[2];
  Range rc = of(c), a = of(x), b = of(y);
  if (rc.lo == 1) return a;
  if (rc.hi == 0) return b;
  // min(x, y), max(x, y) and clamping to a constant: the arm that is taken obeys the comparison.
  if (isComparison(c->op) && c->operands[0]->width == e->width) {
    Expr p = c->operands[0], q = c->operands[1];
    bool isUnsigned = c->op == Op::Ult || c->op == Op::Ule;
    Range rp = of(p), rq = of(q);
    bool comparable = !isUnsigned || (rp.lo >= 0 && rq.lo >= 0);
    Int strict = c->op == Op::Ult || c->op == Op::Slt;
    if (comparable && c->op != Op::Eq) { // p < q when x is taken, q <= p when y is
      if (x == p) a.hi = std::min(a.hi, rq.hi - strict);
      if (x == q) a.lo = std::max(a.lo, rp.lo + strict);
      if (y == p) b.lo = std::max(b.lo, rq.lo + 1 - strict);
      if (y == q) b.hi = std::min(b.hi, rp.hi - 1 + strict);
    }
  }
  if (a.isEmpty()) return b;
  if (b.isEmpty()) return a;
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), a.maybe | b.maybe};
}

} // namespace kcheck::analyzer
