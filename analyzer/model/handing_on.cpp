#include "analyzer/model/handing_on.h"

#include "analyzer/model/execution.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// Whether all threads of a block leave the loops around `block` in the same round.
bool leaveTogether(const KernelState& state, const BasicBlock* block) {
  return std::all_of(state.loops.begin(), state.loops.end(), [&](const LoopRecord& record) {
    return !record.loop->contains(block) ||
           std::all_of(record.exitConditions.begin(), record.exitConditions.end(),
                       [](Expr condition) { return variesOf(condition) != Varies::ByThread; });
  });
}

/// The thread that has surely stored what the load reads.
std::optional<ThreadPlace> handsOn(KernelState& state, const Execution& run, const Instruction& load,
                                   const Instruction& store) {
  auto value = run.handed.find(&store);
  if (value == run.handed.end()) return {};
  const auto one = oneComesTo(state, run, *store.getParent());
  if (!one || !isTrue(one->condition) || !state.broadcasts.areParted(one->parting, load)) return {};
  const bool isOfBlock = variesOf(state.asThread(one->thread, store, value->second)) != Varies::ByThread;
  return isOfBlock ? std::optional(one->thread) : std::nullopt;
}

/// Along which axes blocks count apart there; nothing where that is not known of all that it does.
std::optional<RowAxes> rowOf(const KernelState& state, const Execution& run, const Instruction& arrival) {
  std::optional<RowAxes> row;
  for (const RunAccess& access : run.accesses) {
    if (access.instruction != &arrival) continue;
    if (!isConst(access.access.size)) return {};
    const auto here = rowAxesOf(state.model, access.access.offset, access.access.size->value);
    if (!here || (row && *row != *here)) return {};
    row = here;
  }
  return row;
}

bool isCounter(KernelState& state, const Execution& run, const Instruction& arrival, RowAxes row) {
  std::set<unsigned> objects;
  std::set<Expr> places;
  for (const RunAccess& access : run.accesses)
    if (access.instruction == &arrival) {
      objects.insert(access.access.object);
      places.insert(access.access.offset);
    }
  if (objects.size() != 1 || rowOf(state, run, arrival) != row) return false;
  const MemoryObject& counter = state.objects[*objects.begin()];
  if (counter.space != MemorySpace::Global || counter.isUnknown || state.isUnknownWritten()) return false;
  const unsigned number = unsigned(std::distance(state.arriving.begin(), state.arriving.find(&arrival)));
  return std::all_of(run.accesses.begin(), run.accesses.end(), [&](const RunAccess& access) {
    const ModelAccess& a = access.access;
    if (a.object != *objects.begin() || a.kind == AccessKind::Read || access.instruction == &arrival ||
        lookedAt(*access.instruction))
      return true;
    return std::any_of(a.arrivals.begin(), a.arrivals.end(), [&](const ArrivalPlace& place) {
      return place.counter == number && place.side == ArrivalPlace::Side::After &&
             (row == 0 || places == std::set{a.offset}); // not at another row's
    });
  });
}

} // namespace

std::optional<OneComes> oneComesTo(KernelState& state, const Execution& run, const BasicBlock& block) {
  const auto condition = run.conditions.find(&block);
  if (condition == run.conditions.end()) return {};
  const auto thread = state.onlyThread(condition->second);
  if (!thread || !state.hasThread(*thread)) return {};
  Substitution own(state.exprs);
  for (unsigned axis = 0; axis < 3; ++axis)
    if (Expr index = state.model.threadIdx[axis]; !isConst(index))
      own.set(index, state.exprs.constant(32, (*thread)[axis]));
  for (auto* node = state.dominators.getNode(&block)->getIDom(); node; node = node->getIDom()) {
    const BasicBlock* parting = node->getBlock();
    auto reached = run.conditions.find(parting);
    if (reached == run.conditions.end()) return {};
    // All come to a barrier; whether they do is asked by itself.
    if (variesOf(reached->second) == Varies::ByThread && !beginsWithBarrier(*parting)) continue;
    // In this thread's words: a condition of all may have become another one by being put together.
    Expr rest = withoutPrefix(state.exprs, own(condition->second), own(reached->second));
    if (!rest || variesOf(rest) == Varies::ByThread || !leaveTogether(state, parting)) return {};
    return OneComes{*thread, parting, rest};
  }
  return {};
}

OneThreads findOnes(KernelState& state, const Execution& run) {
  OneThreads result;
  for (const BasicBlock& block : state.function)
    if (const auto one = oneComesTo(state, run, block))
      result[&block] = {one->thread, one->parting, isTrue(one->condition)};
  return result;
}

std::map<const Instruction*, ThreadPlace> confirmBroadcasts(KernelState& state, const Execution& run) {
  std::map<const Instruction*, ThreadPlace> result;
  for (auto& [load, store] : state.broadcasts.all())
    if (auto thread = handsOn(state, run, *load, *store)) result[load] = *thread;
  return result;
}

std::map<const Instruction*, Arrival> candidateArrivals(KernelState& state, const Execution& run) {
  std::map<const Instruction*, Arrival> result;
  for (const Instruction* atomic : state.arrivals.all()) {
    auto condition = run.conditions.find(atomic->getParent());
    if (condition == run.conditions.end()) continue;
    const auto row = rowOf(state, run, *atomic);
    if (auto thread = state.onlyThread(condition->second); thread && row) result[atomic] = {*thread, *row};
  }
  return result;
}

std::map<const Instruction*, Arrival> confirmArrivals(KernelState& state, const Execution& run) {
  std::map<const Instruction*, Arrival> result;
  for (auto& [atomic, arrival] : state.arriving)
    if (isCounter(state, run, *atomic, arrival.row)) result[atomic] = arrival;
  return result;
}

} // namespace kcheck::analyzer
