// What threads claim: places by atomicCAS and atomicExch, bits by atomicOr and atomicAnd. One of those that
// come to a place finds it free.
#include "analyzer/model/execution.h"

#include "analyzer/expr/fold.h"
#include "analyzer/expr/range.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

Update claimOf(ExprContext& exprs, Expr compare, Expr desired, Expr condition) {
  if (!isConst(compare)) return {};
  bool differs = isConst(desired) && compare->value != desired->value;
  if (!isConst(desired)) {
    Expr set = desired->op == Op::Or ? desired->operands[1] : nullptr; // a mark set in what is stored
    differs = set && isConst(set) && (set->value & ~compare->value) != 0;
    Ranges ranges(Ranges::Wrapping::Exact);
    if (!differs && ranges.assume(condition)) {
      const Range range = ranges.of(desired);
      const bool isSigned = range.hi < Int(1) << (desired->width - 1); // as the constant is read
      differs = isSigned && (range.hi < compare->value || range.lo > compare->value);
    }
    if (!differs) // it has been asked
      differs = std::ranges::count(conjunctsOf(condition), exprs.logicalNot(exprs.eq(desired, compare))) != 0;
  }
  return differs ? Update{Update::Kind::Claim, compare->value} : Update{};
}

/// The bit that is set in a mark, or left out of one that clears, as a number with nothing else in it. Null
/// where there may be several.
static Expr onlyBit(ExprContext& exprs, const Update& update, Expr operand) {
  if (!operand) return nullptr;
  Expr bits = update.kind == Update::Kind::Mark
                  ? operand
                  : exprs.binary(Op::Xor, operand, exprs.constant(operand->width, -1));
  const bool isOne = isConst(bits) ? isPowerOfTwo(zeroExtend(bits->value, bits->width))
                                   : bits->op == Op::Shl && isConst(bits->operands[0], 1);
  return isOne ? bits : nullptr;
}

/// What atomicCAS(p, expected, other), atomicExch(p, value), or atomicOr and atomicAnd of one bit return
/// where nothing else is done to the object: of those that come to one place, or bit, one thread at most
/// finds it as it was expected, or other than it is left. Null where more may happen.
Expr Execution::claim(const Instruction& instruction, Expr pointer, const Update& update, Expr operand) {
  auto places = state.objects.places(pointer);
  if (update.kind == Update::Kind::Other || !state.knowsWritten || places.size() != 1) return nullptr;
  const Place& place = places[0];
  const bool isOfBit = update.kind == Update::Kind::Mark || update.kind == Update::Kind::Clear;
  Expr bit = isOfBit ? onlyBit(exprs, update, operand) : nullptr;
  if (isOfBit && !bit) return nullptr;
  std::vector<Expr> claimed{place.offset};
  if (bit) claimed.push_back(bit);
  const BasicBlock* interval = state.intervalOf(place.object, update, instruction.getParent());
  bool isShared = state.objects[place.object].space == MemorySpace::Shared;
  auto mine = interval ? identity(instruction, isShared) : std::nullopt;
  if (!mine) return nullptr;
  Cause cause{CauseKind::Order, "the result of the atomic operation at " + state.lineText(instruction)};
  Expr won = exprs.boolean(true);
  std::vector<const Function*> winners;
  for (std::size_t i = 0; i < mine->size(); ++i) {
    std::string role = (bit ? "winner of " + std::to_string(bit->width) + " bits " : "winner ") +
                       std::to_string(place.object) + " " + std::to_string(i);
    auto* winner = state.symbols.function(interval, role, "the winner", 32);
    winner->varies = isShared ? Varies::ByBlock : Varies::Never;
    winner->exact = false;
    winner->cause = cause;
    winners.push_back(winner);
    won = exprs.logicalAnd(won, exprs.eq((*mine)[i], exprs.apply(winner, claimed)));
  }
  Symbol* symbol =
      local(instruction, "atomic", "atomic result (" + state.lineText(instruction) + ")",
            widthOf(instruction.getType()->isStructTy() ? instruction.getType()->getStructElementType(0)
                                                        : instruction.getType(),
                    state.layout));
  symbol->exact = false;
  symbol->cause = cause;
  state.synchronizing.insert(symbol);
  Expr found = exprs.of(symbol);
  Expr result = nullptr;
  if (isOfBit) {
    result = exprs.ite(won, found,
                       exprs.binary(update.kind == Update::Kind::Mark ? Op::Or : Op::And, found, operand));
  } else {
    Expr given = exprs.constant(symbol->width, update.value);
    Expr other = exprs.ite(exprs.eq(found, given), exprs.add(found, exprs.constant(symbol->width, 1)), found);
    result =
        update.kind == Update::Kind::Exchange ? exprs.ite(won, found, given) : exprs.ite(won, given, other);
  }
  if (auto noted = noteResult(instruction, pointer, result, symbol))
    for (const Function* winner : winners) {
      auto [draw, isNew] = state.model.draws.try_emplace(winner, *noted);
      if (!isNew && draw->second.number != noted->number) draw->second.number = -1;
    }
  return result;
}

} // namespace kcheck::analyzer
