// Where counters of the kernel's threads start, and how far they come: what is drawn from them, and what they
// have counted, lies within.
#include "analyzer/model/execution.h"
#include "analyzer/model/handing_on.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/GlobalVariable.h"

#include <functional>
#include <set>

using namespace llvm;

namespace kcheck::analyzer {

/// Subscripts among them.
static void forEachAccess(KernelModel& model, const std::function<void(ModelAccess&)>& change) {
  for (auto* phases : {&model.blockPhases, &model.warpPhases, &model.gridPhases})
    for (Phase& phase : *phases)
      for (ModelAccess& access : phase.accesses) change(access);
  for (SubscriptCheck& check : model.subscripts)
    if (check.isFollowed) change(check.access);
}

/// Whether one thread gives the counter its first value in each round, before the draws.
static bool isSetInRound(KernelState& state, const Execution& whole, const KernelState::CountBound& bound) {
  for (auto& [update, blocks] : state.updates.at(bound.object))
    for (const BasicBlock* block : blocks) {
      const auto one = oneComesTo(state, whole, *block);
      if (one && !update.drawsUp() && isTrue(one->condition) && bound.loop->contains(one->parting) &&
          state.dominators.dominates(one->parting, bound.start))
        return true;
    }
  return false;
}

/// What a variable of the program holds at `offset` from the start on. Nothing where others may write it
/// first.
static std::optional<std::int64_t> initialNumber(const KernelState& state, unsigned object, Expr offset,
                                                 Type* type) {
  const auto found = state.globals.find(object);
  if (found == state.globals.end() || !isConst(offset) || !type->isIntegerTy()) return {};
  const GlobalVariable& variable = *found->second;
  if (!variable.hasInitializer() || mayBeWrittenByHost(state.facts, variable)) return {};
  auto* number = dyn_cast_or_null<ConstantInt>(
      ConstantFoldLoadFromConst(const_cast<Constant*>(variable.getInitializer()), type,
                                APInt(64, std::uint64_t(offset->value)), state.layout));
  return number ? std::optional(number->getSExtValue()) : std::nullopt;
}

/// Where the kernel itself, or the variable, says that a counter does not start as assumed, nothing is
/// proved.
void KernelState::checkStarts() {
  constexpr std::int64_t kFarStart = 1 << 29; // from where counters are taken not to wrap
  for (const auto& [object, assumed] : assumedStarts) {
    std::optional<std::int64_t> start =
        initialNumber(*this, object, assumed.offset, assumed.drawn->getType());
    for (const Phase& phase : model.blockPhases)
      for (const ModelAccess& access : phase.accesses)
        if (access.object == object && access.kind == AccessKind::Write && access.stored &&
            isConst(access.stored) && (access.stored->value < 0 || access.stored->value > kFarStart))
          start = access.stored->value;
    if (!start || (assumed.isZero ? *start == 0 : *start >= 0 && *start <= kFarStart)) continue;
    gap(assumed.drawn,
        "the counter `" + objects[object].name + "` starts at " + std::to_string(*start) +
            ", and what is drawn from there is not followed",
        true, false, false);
  }
}

/// The number of all threads of a block.
static Expr threadsOfBlock(ExprContext& exprs, const KernelModel& model) {
  Expr threads = exprs.constant(32, 1);
  for (Expr extent : model.blockDim)
    if (extent) threads = exprs.mul(threads, extent);
  return threads;
}

/// Where the kernel itself sets what a counter starts with, its tickets go on from there, and no more are
/// drawn than its block's threads do.
void KernelState::boundTickets() {
  for (const auto& [symbol, ticket] : firstTickets) {
    const auto start = startOf(model, ticket.object);
    if (!start) continue;
    Expr first = exprs.of(symbol), isStart = exprs.eq(first, exprs.constant(first->width, *start));
    forEachAccess(model, [&](ModelAccess& access) {
      Expr bound = isStart;
      bool isDrawn = false;
      for (Expr e : {access.offset, access.condition})
        anyNode(e, [&](Expr n) {
          isDrawn = isDrawn || n == first;
          if (n->op != Op::Apply || n->function != ticket.number || !ticket.draws) return false;
          Expr most = exprs.mul(threadsOfBlock(exprs, model), exprs.constant(32, *ticket.draws));
          Expr taken = n->width < 32 ? exprs.extend(Op::ZExt, 32, n) : n;
          if (most->width < taken->width) most = exprs.extend(Op::ZExt, taken->width, most);
          bound = exprs.logicalAnd(bound, exprs.binary(Op::Ult, taken, most));
          return false;
        });
      if (isDrawn) access.condition = exprs.logicalAnd(access.condition, bound);
    });
  }
}

/// Whether the block sets the counter before the first barrier, and draws from it behind that alone.
static bool isSetFirst(const KernelModel& model, unsigned object) {
  if (model.blockPhases.empty()) return false;
  const auto is = [&](AccessKind kind) {
    return std::ranges::any_of(model.blockPhases.front().accesses, [&](const ModelAccess& access) {
      return access.object == object && access.kind == kind;
    });
  };
  return is(AccessKind::Write) && !is(AccessKind::Atomic);
}

/// The same of tickets that are what the counter was: from its start on, as many as the block's threads draw.
void KernelState::boundSharedTickets() {
  constexpr std::int64_t kFar = 1 << 20;
  for (const auto& [number, ticket] : sharedTickets) {
    const auto start = startOf(model, ticket.object);
    if (!start || *start < 0 || *start > kFar || !isSetFirst(model, ticket.object)) continue;
    Expr most =
        ticket.draws ? exprs.mul(threadsOfBlock(exprs, model), exprs.constant(32, *ticket.draws)) : nullptr;
    Expr end = most ? exprs.add(most, exprs.constant(32, *start)) : nullptr;
    forEachAccess(model, [&](ModelAccess& access) {
      Expr bound = exprs.boolean(true);
      std::set<Expr> seen;
      const auto look = [&](Expr n) {
        if (n->op != Op::Apply || n->function != number || !seen.insert(n).second) return false;
        Expr taken = n->width < 32 ? exprs.extend(Op::ZExt, 32, n) : n;
        if (taken->width != 32) return false;
        bound = exprs.logicalAnd(bound, exprs.binary(Op::Ule, exprs.constant(32, *start), taken));
        if (end) bound = exprs.logicalAnd(bound, exprs.binary(Op::Ult, taken, end));
        return false;
      };
      for (Expr e : {access.offset, access.condition}) anyNode(e, look);
      access.condition = exprs.logicalAnd(access.condition, bound);
    });
  }
}

/// No more is counted than all threads of the block can draw, on top of what the counter begins with. That is
/// said where an access speaks of the count, and not of all: who leans on it is not sure.
void KernelState::boundCounts(const Execution& whole) {
  for (const auto& [total, bound] : boundedCounts)
    boundCount(bound, [&](Expr n) { return n->op == Op::Symbol && n->symbol == total; });
  for (const auto& [total, bound] : boundedRoundCounts)
    if (isSetInRound(*this, whole, bound))
      boundCount(bound, [&](Expr n) { return n->op == Op::Apply && n->function == total; });
}

void KernelState::boundCount(const CountBound& bound, const std::function<bool(Expr)>& isCount) {
  const auto start = startOf(model, bound.object);
  constexpr std::int64_t kFar = 1 << 20;
  if (!start || *start < 0 || *start > kFar) return;
  const Expr most = exprs.add(exprs.mul(threadsOfBlock(exprs, model), exprs.constant(32, bound.draws)),
                              exprs.constant(32, *start));
  forEachAccess(model, [&](ModelAccess& access) {
    std::set<Expr> counts;
    anyNode(access.condition, [&](Expr n) {
      if (isCount(n)) counts.insert(n);
      return false;
    });
    for (Expr count : counts) {
      const Expr wide = count->width < 32 ? exprs.extend(Op::ZExt, 32, count) : count;
      access.condition = exprs.logicalAnd(access.condition, exprs.binary(Op::Sle, wide, most));
    }
  });
}

} // namespace kcheck::analyzer
