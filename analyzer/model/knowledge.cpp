#include "analyzer/model/knowledge.h"

#include "llvm/IR/CFG.h"

using namespace llvm;

namespace kcheck::analyzer {

void prime(KernelState& state, const Knowledge& known) {
  for (auto& [key, object] : known.objects) state.objects.object(key, object);
  for (std::size_t id = 0; id < state.objects.size(); ++id)
    state.objects[unsigned(id)].written = known.written.count(unsigned(id)) != 0;
  state.written = known.written;
  if (!known.ones.empty())
    state.sections =
        CriticalSections(state.function, state.dominators, state.loopInfo, state.broadcasts, known.ones);
  state.locks = known.locks;
  state.locksGivenBack = known.locksGivenBack;
  state.updates = known.updates;
  state.writtenIn = known.writtenIn;
  state.unstable = known.unstable;
  state.unstableInGrid = known.unstableInGrid;
  state.changedPointerSources = known.changedPointerSources;
  state.knownPointerPlaces = known.pointerPlaces;
  state.synchronizingObjects = known.synchronizingObjects;
  state.afterWaiting = known.afterWaiting;
  state.polled = known.polled;
  state.fixedParameters = known.fixedParameters;
  state.handedOn = known.handedOn;
  state.arriving = known.arriving;
  state.flags = known.flags;
  state.commonLooks = known.commonLooks;
  state.hasGroups = known.hasGroups;
}

void findFixedParameters(KernelState& state, const Execution& run, Knowledge& known) {
  std::map<const Symbol*, unsigned> parameters;
  for (auto& argument : state.function.args()) {
    if (argument.getType()->isPointerTy()) continue;
    Expr e = state.argumentValue(argument);
    if (e->op == Op::Symbol) parameters[e->symbol] = argument.getArgNo();
  }
  for (auto& [condition, holds] : run.assumed) {
    if (!isTrue(condition)) continue; // assumed on some paths only
    for (Expr part : conjunctsOf(holds)) {
      if (part->op != Op::Eq || part->operands[0]->op != Op::Symbol || !isConst(part->operands[1])) continue;
      auto found = parameters.find(part->operands[0]->symbol);
      if (found != parameters.end()) known.fixedParameters[found->second] = part->operands[1]->value;
    }
  }
}

/// What a store leaves in shared memory that all of the block do before its first barrier; nothing of others.
static std::optional<std::int64_t> setAtStart(KernelState& state, const RunAccess& access,
                                              const std::set<const BasicBlock*>& atStart) {
  const ModelAccess& a = access.access;
  if (!a.stored || !isConst(a.stored) || state.objects[a.object].space != MemorySpace::Shared ||
      !atStart.count(access.instruction->getParent()))
    return {};
  return a.stored->value;
}

/// The blocks that no thread comes to behind a barrier of its block.
static std::set<const BasicBlock*> beforeBarriers(KernelState& state) {
  if (state.intervals.empty()) state.intervals = intervalsOf(state.function);
  std::set<const BasicBlock*> result;
  const BasicBlock* entry = &state.function.getEntryBlock();
  for (const BasicBlock* block : state.intervals.at(entry))
    if (none_of(state.intervals,
                [&](const auto& one) { return one.first != entry && one.second.count(block); }))
      result.insert(block);
  return result;
}

void findLocks(KernelState& state, const Execution& run, Knowledge& known) {
  std::map<unsigned, std::set<std::int64_t>> free;
  std::map<unsigned, std::set<std::optional<std::int64_t>>> taken; // nothing: by turns
  std::set<unsigned> others, givenBack, usedAtStart;
  std::map<unsigned, std::set<std::int64_t>> begun; // what locks in shared memory begin with
  const std::set<const BasicBlock*> atStart = beforeBarriers(state);
  for (const RunAccess& access : run.accesses) {
    if (access.access.kind == AccessKind::Read || state.sections.isDraw(*access.instruction)) continue;
    auto values = state.sections.valuesOf(*access.instruction);
    if (!values) {
      if (lookedAt(*access.instruction)) continue;
      if (const auto set = setAtStart(state, access, atStart))
        begun[access.access.object].insert(*set);
      else
        others.insert(access.access.object);
      continue;
    }
    if (atStart.count(access.instruction->getParent())) usedAtStart.insert(access.access.object);
    taken[access.access.object].insert(values->turn ? std::nullopt : std::optional(values->taken));
    if (state.sections.givesBack(*access.instruction)) givenBack.insert(access.access.object);
    if (values->free) free[access.access.object].insert(*values->free);
  }
  known.locks.clear();
  bool unknownWritten = known.written.count(state.objects.unknown()) != 0;
  for (auto& [object, values] : taken) {
    const MemoryObject& o = state.objects[object];
    // Free, or with whoever's turn comes first; nobody has taken it then.
    const bool begins = !begun.count(object) ||
                        (!usedAtStart.count(object) && (!*values.begin() || begun[object] == free[object]));
    bool reachable = o.isUnknown || (unknownWritten && (o.space == MemorySpace::Global || o.escapes));
    if (!reachable && begins && !others.count(object) && values.size() == 1 && free[object].size() <= 1 &&
        !(*values.begin() && free[object].count(**values.begin())))
      known.locks.insert(object);
  }
  known.locksGivenBack.clear();
  for (unsigned object : known.locks)
    if (givenBack.count(object)) known.locksGivenBack.insert(object);
}

/// Of a barrier of the grid that the kernel makes itself.
static bool isPartOfBarrier(const Loop& loop) {
  return any_of(loop.blocks(), [](const BasicBlock* block) {
    return any_of(*block, [](const Instruction& i) { return i.getMetadata(kPartOfBarrier) != nullptr; });
  });
}

void findWaiting(const Execution& run, Knowledge& known) {
  known.polled.insert(run.polled.begin(), run.polled.end());
  for (const Loop* loop : run.waitingLoops) {
    if (isPartOfBarrier(*loop)) continue; // what it waits for is the barrier behind it
    std::vector<const BasicBlock*> todo;
    std::set<const BasicBlock*> seen;
    SmallVector<BasicBlock*> exits;
    loop->getExitBlocks(exits);
    todo.insert(todo.end(), exits.begin(), exits.end());
    while (!todo.empty()) {
      const BasicBlock* block = todo.back();
      todo.pop_back();
      if (!seen.insert(block).second) continue;
      known.afterWaiting.try_emplace(block, loop->getHeader()->getTerminator());
      for (const BasicBlock* next : successors(block)) todo.push_back(next);
    }
  }
}

void findSynchronizing(const KernelState& state, const Execution& run, Knowledge& known) {
  for (const RunAccess& access : run.accesses) {
    const ModelAccess& a = access.access;
    if (a.kind == AccessKind::Write &&
        (state.isSynchronizing(a.condition) || (a.stored && state.isSynchronizing(a.stored))))
      known.synchronizingObjects.insert(a.object);
  }
}

} // namespace kcheck::analyzer
