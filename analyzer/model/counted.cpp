// What the threads of a block count together in shared memory, by drawing numbers or room: one value that all
// find there behind the barrier, and that all that was drawn lies within.
#include "analyzer/model/execution.h"
#include "analyzer/model/handing_on.h"
#include "report/assumptions.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <set>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// Whether more than a plain load or store may be done to memory.
bool mayUpdate(const Instruction& instruction) {
  if (isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction)) return true;
  auto* call = dyn_cast<CallBase>(&instruction);
  return call && !isa<DbgInfoIntrinsic>(call) && barrierOf(instruction).kind == BarrierKind::None &&
         call->mayWriteToMemory() && !call->onlyAccessesInaccessibleMemory() &&
         (call->isInlineAsm() ||
          any_of(call->args(), [](const Use& argument) { return argument->getType()->isPointerTy(); }));
}

} // namespace

/// How often a thread draws at most; nothing where it may draw in a loop, or where the counter is given its
/// first value by more than stores.
std::optional<unsigned> Execution::drawsOfThread(unsigned object, const Update& drawn) const {
  unsigned most = 0;
  for (auto& [update, blocks] : state.updates.at(object))
    for (const BasicBlock* block : blocks) {
      const auto here = unsigned(count_if(*block, mayUpdate));
      if (update == drawn ? state.loopInfo.getLoopFor(block) != nullptr : here > 0) return {};
      if (update == drawn) most += here;
    }
  return most;
}

/// The number of the thread in a launch along one axis.
static bool isNumberInLaunch(const KernelModel& model, Expr e) {
  for (unsigned axis : {1u, 2u})
    if (!isConst(model.blockDim[axis], 1) || !isConst(model.gridDim[axis], 1)) return false;
  while (e->op == Op::SExt || e->op == Op::ZExt) e = e->operands[0];
  if (e->op != Op::Add) return false;
  const auto isFirst = [&](Expr m) {
    return m->op == Op::Mul && is_contained(m->operands, model.blockIdx[0]) &&
           is_contained(m->operands, model.blockDim[0]);
  };
  const Expr x = e->operands[0], y = e->operands[1], own = model.threadIdx[0];
  return (x == own && isFirst(y)) || (y == own && isFirst(x));
}

void Execution::boundDraws(const Instruction& draw, const Place& counter, const Update& update, Expr taken,
                           Expr condition) {
  if (state.launch.isOfProgram() || drawsOfThread(counter.object, update) != 1) return;
  for (Expr part : conjunctsOf(condition)) {
    if ((part->op != Op::Slt && part->op != Op::Ult) || !isNumberInLaunch(state.model, part->operands[0]))
      continue;
    Expr most = part->operands[1];
    if (variesOf(most) != Varies::Never) continue;
    const unsigned width = std::max(most->width, taken->width);
    const auto wide = [&](Expr e, Op how) { return e->width < width ? exprs.extend(how, width, e) : e; };
    Expr within =
        exprs.binary(Op::Slt, wide(taken, Op::ZExt), wide(most, part->op == Op::Slt ? Op::SExt : Op::ZExt));
    state.drawnWithin[taken] = exprs.logicalOr(exprs.logicalNot(condition), within);
    state.assumedStarts[counter.object] = {&draw, counter.offset, true};
    const bool isOne = isConst(counter.offset);
    state.assume(std::string(kCounter) + (isOne ? "" : "s") + " that atomicAdd advances at " +
                 state.lineText(draw) + (isOne ? " is" : " are") + " 0 when the kernel starts");
    return;
  }
}

/// What a counter of the block in shared memory comes to, where there is one interval between barriers in
/// which it is drawn from, or room in it, and nothing else is done to it from then on. Null where that is not
/// so.
Expr Execution::counted(const Place& place, const BasicBlock* here) {
  const MemoryObject& object = state.objects[place.object];
  const auto updates = state.updates.find(place.object);
  const auto [start, bytes] = object.part.value_or(std::pair(0, std::int64_t(object.bytes.value_or(0))));
  if (object.space != MemorySpace::Shared || bytes != 4 || !isConst(place.offset, start) ||
      updates == state.updates.end())
    return nullptr;
  const Update* drawn = nullptr;
  for (auto& [update, blocks] : updates->second) {
    if (!update.drawsUp()) continue;
    if (drawn || !update.isSurelyUp()) return nullptr;
    drawn = &update;
  }
  if (!drawn || updates->second.size() < 2) return nullptr; // it begins with something
  const auto& places = updates->second.at(*drawn);
  const auto repeated = state.repeatedIntervalOf(place.object, *drawn, *places.begin());
  const BasicBlock* interval = repeated.start;
  const auto isRound = [&](const Loop* loop) { return loop->contains(here); };
  if (!interval || !all_of(repeated.loops, isRound)) return nullptr;
  const auto& within = state.intervals.at(interval);
  for (const BasicBlock* block : places)
    if (!within.count(block) || !state.dominators.dominates(interval, block)) return nullptr;
  const BasicBlock* next = repeated.loops.empty() ? nullptr : repeated.loops.front()->getHeader(); // round
  std::vector<const BasicBlock*> todo{interval};
  std::set<const BasicBlock*> reached;
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (block == next || !reached.insert(block).second) continue;
    todo.insert(todo.end(), succ_begin(block), succ_end(block));
  }
  for (auto& [update, blocks] : updates->second)
    for (const BasicBlock* block : blocks)
      if (update != *drawn && reached.count(block)) return nullptr;
  const std::string role = "counted " + std::to_string(place.object),
                    name = "what `" + object.name + "` counts";
  const Cause cause{CauseKind::Content, "what `" + object.name + "` has counted"};
  const bool isOneByOne = drawn->kind == Update::Kind::Add && drawn->value == 1;
  if (!repeated.loops.empty()) {
    std::vector<Expr> rounds = roundNumbers(repeated.loops);
    if (rounds.size() != repeated.loops.size()) return nullptr;
    auto* total = state.symbols.function(interval, role, name, 30);
    total->varies = Varies::ByBlock;
    total->exact = false;
    total->cause = cause;
    state.model.countsOfRounds[total] = isOneByOne;
    const Loop* loop = repeated.loops.front();
    if (const unsigned most = isOneByOne ? drawsInRound(place.object, *drawn, loop) : 0)
      state.boundedRoundCounts[total] = {place.object, most, loop, interval};
    return exprs.extend(Op::ZExt, 32, exprs.apply(total, std::move(rounds)));
  }
  Symbol* total = state.symbols.get(interval, role, {0, 0}, name, 32, SymbolKind::Unknown);
  total->varies = Varies::ByBlock;
  total->lo = 0;
  total->hi = Int(1) << 30;
  total->exact = false;
  total->cause = cause;
  state.model.counts[total] = isOneByOne;
  if (auto most = isOneByOne ? drawsOfThread(place.object, *drawn) : std::nullopt)
    state.boundedCounts[total] = {place.object, *most, nullptr, nullptr};
  return exprs.of(total);
}

/// How often a thread draws in each round of a loop at most; 0 where that is not known.
unsigned Execution::drawsInRound(unsigned object, const Update& drawn, const Loop* loop) const {
  unsigned most = 0;
  for (auto& [update, blocks] : state.updates.at(object))
    for (const BasicBlock* block : blocks) {
      const auto here = unsigned(count_if(*block, mayUpdate));
      if (update == drawn ? state.loopInfo.getLoopFor(block) != loop : here > 0) return 0;
      most += here;
    }
  return most;
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

std::vector<Expr> Execution::roundNumbers(const std::vector<const Loop*>& loops) const {
  std::vector<Expr> rounds;
  for (const Loop* loop : loops)
    if (const auto round = iterations.find(loop); round != iterations.end()) rounds.push_back(round->second);
  return rounds;
}

/// The same, read behind the barrier that ends the interval.
Expr Execution::countedAt(const Instruction& load, const Place& place) {
  if (!load.getType()->isIntegerTy(32)) return nullptr;
  Expr total = counted(place, load.getParent());
  if (!total) return nullptr;
  const auto& updates = state.updates.at(place.object);
  const BasicBlock* drawn = nullptr;
  for (auto& [update, blocks] : updates)
    if (update.drawsUp()) drawn = *blocks.begin();
  for (auto* node = state.dominators.getNode(load.getParent()); node; node = node->getIDom()) {
    const BasicBlock* block = node->getBlock();
    if (!state.intervals.count(block) || block == &state.function.getEntryBlock()) continue;
    // The last barrier on the way: whoever comes past another interval's start has left the one of the draws.
    if (state.intervals.at(block).count(drawn)) return nullptr;
    for (auto& [start, blocks] : state.intervals)
      if (blocks.count(drawn) && state.dominators.dominates(start, block)) {
        state.assumedStarts[place.object] = {&load, place.offset};
        state.assume(std::string(kCounter) + " `" + state.objects[place.object].name +
                     "` starts at 0 or above and stays below 2^30");
        return total;
      }
    return nullptr;
  }
  return nullptr;
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
    for (auto* phases : {&model.blockPhases, &model.warpPhases, &model.gridPhases})
      for (Phase& phase : *phases)
        for (ModelAccess& access : phase.accesses) {
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
        }
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
    for (auto* phases : {&model.blockPhases, &model.warpPhases, &model.gridPhases})
      for (Phase& phase : *phases)
        for (ModelAccess& access : phase.accesses) {
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
        }
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
  for (auto* phases : {&model.blockPhases, &model.warpPhases, &model.gridPhases})
    for (Phase& phase : *phases)
      for (ModelAccess& access : phase.accesses) {
        std::set<Expr> counts;
        anyNode(access.condition, [&](Expr n) {
          if (isCount(n)) counts.insert(n);
          return false;
        });
        for (Expr count : counts) {
          const Expr wide = count->width < 32 ? exprs.extend(Op::ZExt, 32, count) : count;
          access.condition = exprs.logicalAnd(access.condition, exprs.binary(Op::Sle, wide, most));
        }
      }
}

} // namespace kcheck::analyzer
