// What the threads of a block count together in shared memory, by drawing numbers or room: one value that all
// find there behind the barrier, and that all that was drawn lies within.
#include "analyzer/model/execution.h"
#include "report/assumptions.h"

#include "llvm/IR/CFG.h"
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
  if (state.facts.hasMain || state.launch.isOfProgram() || drawsOfThread(counter.object, update) != 1) return;
  for (Expr part : conjunctsOf(condition)) {
    if ((part->op != Op::Slt && part->op != Op::Ult) || !isNumberInLaunch(state.model, part->operands[0]))
      continue;
    Expr most = part->operands[1];
    if (variesOf(most) != Varies::Never) continue;
    const unsigned width = std::max(most->width, taken->width);
    const auto wide = [&](Expr e, Op how) { return e->width < width ? exprs.extend(how, width, e) : e; };
    Expr within =
        exprs.binary(part->op, wide(taken, Op::ZExt), wide(most, part->op == Op::Slt ? Op::SExt : Op::ZExt));
    state.drawnWithin[taken] = exprs.logicalOr(exprs.logicalNot(condition), within);
    state.assumedStarts[counter.object] = {&draw, counter.offset, true};
    const bool isOne = isConst(counter.offset);
    state.assume(std::string(kCounter) + (isOne ? "" : "s") + " that atomicAdd advances at " +
                 state.lineText(draw) + (isOne ? " is" : " are") + " 0 when the kernel starts");
    return;
  }
}

/// What a counter of the block in shared memory comes to, where there is one interval between barriers in
/// which it is drawn from, or room in it, and nothing else is done to it until a thread comes `here`. Null
/// where that is not so.
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
  todo.push_back(here);
  std::set<const BasicBlock*> before; // on the way there
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (reached.count(block) && before.insert(block).second && block != interval)
      todo.insert(todo.end(), pred_begin(block), pred_end(block));
  }
  for (auto& [update, blocks] : updates->second)
    for (const BasicBlock* block : blocks)
      if (update != *drawn && before.count(block)) return nullptr;
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

std::vector<Expr> Execution::roundNumbers(const std::vector<const Loop*>& loops) const {
  std::vector<Expr> rounds;
  for (const Loop* loop : loops) {
    const auto round = iterations.find(loop);
    if (round == iterations.end()) return {};
    rounds.push_back(round->second);
  }
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

} // namespace kcheck::analyzer
