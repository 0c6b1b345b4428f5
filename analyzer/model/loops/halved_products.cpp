// What a loop halves again of what the loop around it doubles: `for (size = 2; size <= n; size *= 2)
// for (stride = size / 2; stride > 0; stride /= 2)`. One power of two for each pair of rounds, which the
// difference of the two counters says.
#include "analyzer/expr/range.h"
#include "analyzer/model/loops/loop_work.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

bool isHalving(Expr latch, Expr header) {
  const bool isDivision = latch->op == Op::SDiv || latch->op == Op::UDiv;
  const bool isShift = latch->op == Op::LShr || latch->op == Op::AShr;
  return (isDivision || isShift) && latch->operands[0] == header &&
         isConst(latch->operands[1], isDivision ? 2 : 1);
}

/// The one symbol that `e` follows, a counter; null where there is none, or more.
Expr onlyCounter(Expr e) {
  Expr found = nullptr;
  bool isOne = true;
  anyNode(e, [&](Expr n) {
    if (n->op == Op::Apply) isOne = false;
    if (n->op == Op::Symbol) {
      isOne = isOne && (!found || found == n) && n->symbol->kind == SymbolKind::LoopCounter;
      found = n;
    }
    return !isOne;
  });
  return isOne ? found : nullptr;
}

/// Whether its lower bits are cut out somewhere: `t & (stride - 1)`. All else that is done with strides,
/// proofs find easier of any number.
bool isMask(const PHINode& stride) {
  const auto isCut = [](const User* bits) {
    return any_of(bits->users(), [](const User* user) {
      const auto* cut = dyn_cast<BinaryOperator>(user);
      return cut && cut->getOpcode() == Instruction::And;
    });
  };
  return any_of(stride.users(), [&](const User* user) {
    const auto* made = dyn_cast<BinaryOperator>(user);
    const bool isSum =
        made && (made->getOpcode() == Instruction::Add || made->getOpcode() == Instruction::Sub);
    return isSum && (isCut(made) || any_of(made->users(), [&](const User* turned) {
                       return isa<BinaryOperator>(turned) && isCut(turned); // `~(stride - 1)`
                     }));
  });
}

} // namespace

Expr Execution::halvedProduct(LoopWork& work, const PHINode* phi, Expr header, Expr latch) {
  constexpr Int kMost = 72;
  Expr start = work.start[phi];
  if (isConst(start) || !isHalving(latch, header) || !isMask(*phi)) return nullptr;
  Expr counter = onlyCounter(start);
  if (!counter || counter->width != 32) return nullptr;
  Ranges ranges(Ranges::Wrapping::Exact);
  if (!ranges.assume(work.bodyEntry)) return nullptr;
  const Range rounds = ranges.of(counter);
  if (rounds.lo < 0 || rounds.hi - rounds.lo > kMost) return nullptr;
  const auto halved = [&](Expr value) {
    Substitution step(exprs);
    step.set(header, value);
    return step(latch);
  };
  std::vector<Expr> values; // by the outer round, in the inner loop's first one
  for (Int round = rounds.lo; round <= rounds.hi; ++round) {
    Substitution now(exprs);
    now.set(counter, exprs.constant(32, std::int64_t(round)));
    values.push_back(now(start));
    if (!isConst(values.back()) || (values.size() > 1 && halved(values.back()) != *(values.end() - 2)))
      return nullptr;
  }
  if (values.size() < 2 || values.front()->value < 0) return nullptr;
  Expr behind = exprs.sub(exprs.constant(32, std::int64_t(rounds.hi)), counter, NoSignedWrap);
  Expr halvings = exprs.add(behind, work.k, NoUnsignedWrap); // of the greatest of them
  if (header->width != 32)
    halvings = exprs.extend(header->width > 32 ? Op::ZExt : Op::Trunc, header->width, halvings);
  return exprs.binary(Op::LShr, values.back(), halvings);
}

} // namespace kcheck::analyzer
