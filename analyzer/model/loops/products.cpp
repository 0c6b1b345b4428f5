// Values that loops multiply until they reach something: `for (i = t + 1; i < n; i *= 2)`.
#include "analyzer/expr/fold.h"
#include "analyzer/expr/range.h"
#include "analyzer/model/loops/loop_work.h"

using namespace llvm;

namespace kcheck::analyzer {

/// By how much a round multiplies; 0: something else happens.
static std::int64_t factorOf(Expr latch, Expr header) {
  if ((latch->op != Op::Mul && latch->op != Op::Shl) || latch->operands[0] != header ||
      !isConst(latch->operands[1]))
    return 0;
  const std::int64_t by = latch->operands[1]->value;
  if (latch->op == Op::Mul) return by;
  return by > 0 && by < 31 ? std::int64_t(1) << by : 0;
}

namespace {

/// `e` times a number, where that fits: cases in which it would not are left out.
class Times {
public:
  Times(ExprContext& exprs, std::int64_t by, std::uint8_t flags) : exprs(exprs), by(by), flags(flags) {}

  Expr operator()(Expr e) {
    const auto [entry, isNew] = known.try_emplace(e, nullptr);
    if (!isNew) return entry->second;
    Expr result = nullptr;
    if (e->op == Op::Ite) {
      Expr one = (*this)(e->operands[1]), other = (*this)(e->operands[2]);
      result = one && other ? exprs.ite(e->operands[0], one, other) : one ? one : other;
    } else if (Expr product = exprs.mul(e, exprs.constant(e->width, by), flags);
               e->op != Op::Const || fits(e)) {
      result = product;
    }
    return known[e] = result;
  }

private:
  bool fits(Expr number) const {
    const bool isSigned = flags & NoSignedWrap;
    const Int value = isSigned ? Int(number->value) : Int(zeroExtend(number->value, number->width));
    const Int most = isSigned ? signedMax(number->width) : powerOfTwo(number->width) - 1;
    return value >= 0 ? value <= most / by : isSigned && value >= (-most - 1) / by;
  }

  ExprContext& exprs;
  const std::int64_t by;
  const std::uint8_t flags;
  std::map<Expr, Expr> known;
};

} // namespace

/// The counter of a loop in the next round, by `product`, where its rounds are told apart.
Expr Execution::nextProduct(const BinaryOperator& op, Expr a, Expr b, std::uint8_t flags) {
  if (a->op != Op::Ite || !isConst(b)) return nullptr;
  const bool isShift = op.getOpcode() == Instruction::Shl;
  if ((!isShift && op.getOpcode() != Instruction::Mul) || b->value < 1 || (isShift && b->value > 30))
    return nullptr;
  return Times(exprs, isShift ? std::int64_t(1) << b->value : b->value, flags)(a);
}

/// start * factor^k, as long as that does not run over: what wraps is small again, and would go on from
/// there. The program excludes it, or the loop ends before: where that does not lie so far below the largest
/// number that it surely does, it is assumed.
Expr Execution::product(LoopWork& work, const PHINode* phi, Expr header, Expr latch) {
  const unsigned width = header->width;
  const std::int64_t factor = factorOf(latch, header);
  if ((width != 32 && width != 64) || factor < 2) return nullptr;
  Expr start = work.start[phi];
  bool isSigned = latch->flags & NoSignedWrap;
  bool isTold = isSigned; // wherever the loop stands, its counter does not overflow
  std::string assumption;
  if (!isSigned && !(latch->flags & NoUnsignedWrap)) {
    auto* compare = work.headerExit ? dyn_cast<ICmpInst>(work.headerExit->getCondition()) : nullptr;
    if (!compare || !isBoundedAbove(*work.loop, *work.headerExit, phi)) return nullptr;
    isSigned = compare->isSigned();
    Expr end = value(compare->getOperand(compare->getOperand(0) == phi ? 1 : 0));
    Ranges ranges(Ranges::Wrapping::Exact);
    if (dependsOnLoop(work, end, true) || !ranges.assume(work.bodyEntry)) return nullptr;
    if (isSigned && ranges.of(start).lo < 0) return nullptr;
    const Int far = (isSigned ? signedMax(width) : powerOfTwo(width) - 1) / factor;
    if ((isSigned ? ranges.of(end).hi : ranges.unsignedOf(end).hi) > far) {
      assumption = "the loop counter at " + state.lineText(*work.headerExit) + " does not overflow";
      work.assumptions.insert(assumption);
      isTold = true;
    }
  }
  const std::uint8_t flags = isSigned ? NoSignedWrap : NoUnsignedWrap;
  for (const BasicBlock* from : predecessors(work.loop->getHeader()))
    if (isTold && work.loop->contains(from)) // what is known of it from before stays
      state.multiplied.try_emplace(phi->getIncomingValueForBlock(from),
                                   KernelState::Multiplied{flags, assumption});
  const Int most = isSigned ? signedMax(width) : powerOfTwo(width) - 1;
  const Int first = isSigned ? Int(start->value) : Int(zeroExtend(start->value, width)); // of a constant
  std::vector<Expr> values, limits; // for the first value to come so far
  Int power = 1;
  for (; power <= most && !(isConst(start) && first > most / power); power *= factor) {
    limits.push_back(exprs.constant(width, normalize(std::int64_t(most / power), width)));
    values.push_back(exprs.mul(start, exprs.constant(width, normalize(std::int64_t(power), width)),
                               isSigned ? NoSignedWrap : NoUnsignedWrap));
  }
  Ranges ranges(Ranges::Wrapping::Exact);
  const bool isReached = ranges.assume(work.bodyEntry);
  if (isSigned && power == most + 1 && (!isReached || ranges.of(start).lo < 0)) { // of -1 alone, that fits
    limits.push_back(exprs.constant(width, 0));
    values.push_back(exprs.mul(start, exprs.constant(width, normalize(std::int64_t(-power), width))));
  }
  Expr form = chained(work, values, values.size() - 1);
  if (width == 32 && latch->flags & NoSignedWrap)
    work.steps[phi] = {work.counter, Op::Mul, nullptr, exprs.constant(width, factor)};
  if (isReached && (ranges.of(start).lo > 0 || ranges.of(start).hi < 0))
    work.mostRounds = std::int64_t(values.size());
  if (isConst(start) && first > 0) return form;
  limits.push_back(exprs.constant(width, 0));
  Expr limit = chained(work, limits, limits.size() - 1), below = exprs.constant(width, -1);
  work.facts.push_back(exprs.binary(isSigned ? Op::Sle : Op::Ule, start, limit));
  if (isSigned) work.facts.push_back(exprs.binary(Op::Sle, exprs.sub(below, limit, NoSignedWrap), start));
  return form;
}

} // namespace kcheck::analyzer
