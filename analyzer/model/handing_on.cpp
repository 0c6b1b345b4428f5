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

bool isHandedOn(KernelState& state, const Execution& run, const Instruction& load, const Instruction& store) {
  auto stored = run.conditions.find(store.getParent());
  auto value = run.handed.find(&store);
  if (stored == run.conditions.end() || value == run.handed.end()) return false;
  if (state.onlyThread(stored->second) != ThreadPlace{}) return false;
  Substitution first(state.exprs);
  for (Expr index : state.model.threadIdx)
    if (!isConst(index)) first.set(index, state.exprs.constant(32, 0));
  if (variesOf(state.asFirstThread(store, value->second)) == Varies::ByThread) return false;
  // From where all threads are together, the first goes on to the store for certain.
  for (auto* node = state.dominators.getNode(store.getParent())->getIDom(); node; node = node->getIDom()) {
    const BasicBlock* parting = node->getBlock();
    auto reached = run.conditions.find(parting);
    if (reached == run.conditions.end()) return false;
    if (variesOf(reached->second) == Varies::ByThread) continue;
    Expr rest = withoutPrefix(state.exprs, stored->second, reached->second);
    return rest && isTrue(first(rest)) && leaveTogether(state, parting) &&
           state.broadcasts.areParted(parting, load);
  }
  return false;
}

bool isCounter(KernelState& state, const Execution& run, const Instruction& arrival) {
  std::set<unsigned> objects;
  for (const RunAccess& access : run.accesses)
    if (access.instruction == &arrival) {
      if (!isConst(access.access.offset)) return false;
      objects.insert(access.access.object);
    }
  if (objects.size() != 1) return false;
  const MemoryObject& counter = state.objects[*objects.begin()];
  if (counter.space != MemorySpace::Global || counter.isUnknown || state.isUnknownWritten()) return false;
  const unsigned number = unsigned(std::distance(state.arriving.begin(), state.arriving.find(&arrival)));
  return std::all_of(run.accesses.begin(), run.accesses.end(), [&](const RunAccess& access) {
    const ModelAccess& a = access.access;
    if (a.object != *objects.begin() || a.kind == AccessKind::Read || access.instruction == &arrival)
      return true;
    return std::any_of(a.arrivals.begin(), a.arrivals.end(), [&](const ArrivalPlace& place) {
      return place.counter == number && place.side == ArrivalPlace::Side::After;
    });
  });
}

} // namespace

std::set<const Instruction*> confirmBroadcasts(KernelState& state, const Execution& run) {
  std::set<const Instruction*> result;
  for (auto& [load, store] : state.broadcasts.all())
    if (isHandedOn(state, run, *load, *store)) result.insert(load);
  return result;
}

std::map<const Instruction*, ThreadPlace> candidateArrivals(KernelState& state, const Execution& run) {
  std::map<const Instruction*, ThreadPlace> result;
  for (const Instruction* atomic : state.arrivals.all()) {
    auto condition = run.conditions.find(atomic->getParent());
    if (condition == run.conditions.end()) continue;
    if (auto thread = state.onlyThread(condition->second)) result[atomic] = *thread;
  }
  return result;
}

std::map<const Instruction*, ThreadPlace> confirmArrivals(KernelState& state, const Execution& run) {
  std::map<const Instruction*, ThreadPlace> result;
  for (auto& [atomic, thread] : state.arriving)
    if (isCounter(state, run, *atomic)) result[atomic] = thread;
  return result;
}

} // namespace kcheck::analyzer
