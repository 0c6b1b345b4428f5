// Values of which each round takes a part away, until nothing is left: the bits of a mask, the digits of a
// number.
#include "analyzer/model/loops/loop_work.h"

#include "analyzer/expr/fold.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// Its lowest bit.
bool isLowestBit(Expr e, Expr value) {
  if (e->op != Op::And) return false;
  const auto isMinus = [&](Expr x) {
    return x->op == Op::Mul && x->operands[0] == value && isConst(x->operands[1], -1);
  };
  return (e->operands[0] == value && isMinus(e->operands[1])) ||
         (e->operands[1] == value && isMinus(e->operands[0]));
}

bool isOneLess(Expr e, Expr value) {
  return e->op == Op::Add && e->operands[0] == value && isConst(e->operands[1], -1);
}

/// After how many rounds nothing is left, whatever it began with, where a round makes `next` of it.
std::optional<std::int64_t> roundsOf(Expr next, Expr value) {
  if (next->operands.size() != 2) return {};
  const std::int64_t width = value->width;
  Expr x = next->operands[0], y = next->operands[1];
  if (next->op == Op::And)
    return (x == value && isOneLess(y, value)) || (y == value && isOneLess(x, value)) ? std::optional(width)
                                                                                      : std::nullopt;
  if (next->op == Op::Xor)
    return (x == value && isLowestBit(y, value)) || (y == value && isLowestBit(x, value))
               ? std::optional(width)
               : std::nullopt;
  if (x != value || !isConst(y) || y->value < 1) return {};
  if (next->op == Op::LShr || next->op == Op::Shl) return (width + y->value - 1) / y->value;
  if ((next->op != Op::UDiv && next->op != Op::SDiv) || y->value < 2) return {};
  std::int64_t rounds = 0;
  for (Int left = powerOfTwo(unsigned(width)) - 1; left > 0; left /= y->value) ++rounds;
  return rounds;
}

} // namespace

void Execution::boundUsedUp(LoopWork& work) {
  for (const PHINode* phi : work.phis) {
    const auto latch = work.latch.find(phi);
    if (work.closed.count(phi) || work.counted.count(phi) || latch == work.latch.end() ||
        !phi->getType()->isIntegerTy())
      continue;
    Expr value = exprs.of(work.inside[phi]);
    const auto rounds = roundsOf(latch->second, value);
    if (!rounds) continue;
    Expr isLeft = exprs.binary(Op::Slt, work.k, exprs.constant(32, *rounds));
    work.facts.push_back(exprs.logicalOr(isLeft, exprs.eq(value, exprs.constant(value->width, 0))));
  }
}

} // namespace kcheck::analyzer
