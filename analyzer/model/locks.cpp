// Two passes over the control flow. Forward: which locks are held on every path, and the widest fence since
// each was taken. Backward: the widest fence on every path before it is given back. Both meet in the access
// between.
#include "analyzer/model/locks.h"

#include "analyzer/model/block_locks.h"
#include "analyzer/model/fences.h"
#include "analyzer/model/flow_edges.h"
#include "analyzer/model/lock_fences.h"
#include "analyzer/model/lock_operations.h"
#include "analyzer/model/sightings.h"
#include "analyzer/model/taken_locks.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <map>

using namespace llvm;

namespace kcheck::analyzer {

class LockFinder {
public:
  LockFinder(const llvm::Function& kernel, const BlockLocks::Flow& flow, const OneThreads& ones,
             CriticalSections& result)
      : result(result), loops(flow.loops), order(inOrder(kernel)), locks(takenLocks(order, flow.loops)),
        blockLocks(kernel, locks, ones, flow) {}

  void run() {
    if (locks.onEdges.empty()) return;
    result.operations = std::move(locks.values);
    for (const auto& [taken, values] : result.operations)
      if (const Instruction* draw = values.turn ? drawOf(values.turn) : nullptr) result.draws.insert(draw);
    while (forward()) {
    }
    for (const BasicBlock* block : order) replay(*block);
    dropMeeting();
    for (auto& [instruction, state] : sinceTaken)
      std::erase_if(state, [&](const auto& held) { return !isHeldBy(held.first, instruction->getParent()); });
    while (backward()) {
    }
    for (const BasicBlock* block : order) join(*block);
    std::set<TakenLock> forGood; // nobody waits for what is never given back
    for (TakenLock taken : locks.all)
      if (!mayBeGivenBack(taken)) forGood.insert(taken);
    for (auto& [instruction, state] : sinceTaken)
      result.counts[instruction] =
          std::size_t(count_if(state, [&](const auto& held) { return !forGood.count(held.first); }));
    for (auto& [instruction, taken] : releases) result.releases.insert(instruction);
  }

private:
  using State = std::map<TakenLock, Fenced>; ///< since it was taken

  /// What is known at one place. A lock that has just been tried for is held wherever the test for it comes
  /// out so, there or further on (`bool mine = try(); if (mine) fence(); ... if (mine)`).
  struct Known {
    State held;
    State tried; ///< on all ways on which it may be held; never: given back on some of them
    friend bool operator==(const Known&, const Known&) = default;
  };

  static std::vector<const BasicBlock*> inOrder(const llvm::Function& kernel) {
    ReversePostOrderTraversal<const llvm::Function*> blocks(&kernel);
    return {blocks.begin(), blocks.end()};
  }

  /// Whether anything but the taking itself is ever written where the lock may be.
  bool mayBeGivenBack(TakenLock taken) const {
    const auto objectOf = [](const Value* pointer) { return getUnderlyingObject(pointer, 0); };
    const Value* lock = objectOf(takingOf(taken).pointer);
    const bool isKnown = isa<llvm::Argument>(lock) || isa<GlobalVariable>(lock);
    auto mayWriteTo = [&](const Instruction& instruction) {
      if (!instruction.mayWriteToMemory() || &instruction == taken || lookedAt(instruction)) return false;
      auto mayBe = [&](const Value* pointer) {
        const Value* object = objectOf(pointer);
        return !isKnown || object == lock ||
               (!isa<llvm::Argument>(object) && !isa<GlobalVariable>(object) && !isa<AllocaInst>(object));
      };
      if (auto* store = dyn_cast<StoreInst>(&instruction)) return mayBe(store->getPointerOperand());
      if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) return mayBe(update->getPointerOperand());
      if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
        return mayBe(exchange->getPointerOperand());
      auto* call = dyn_cast<CallBase>(&instruction);
      return call && any_of(call->args(), [&](const Use& argument) {
               return argument->getType()->isPointerTy() ? mayBe(argument)
                                                         : !isKnown && argument->getType()->isIntegerTy(64);
             });
    };
    return any_of(order, [&](const BasicBlock* block) { return any_of(*block, mayWriteTo); });
  }

  /// The lock among the held ones that the instruction gives back.
  TakenLock givenBack(const Instruction& instruction, const State& state) const {
    if (locks.all.count(&instruction)) return nullptr;
    for (auto& [taken, fenced] : state) {
      if (fenced.isNever() || !mayGiveBack(taken, instruction.getParent())) continue;
      const auto operation = freed(instruction, taken);
      if (operation && isSameAddress(takingOf(taken).pointer, operation->pointer)) return taken;
    }
    return nullptr;
  }

  /// What the instruction does to a lock if that frees it.
  std::optional<LockOperation> freed(const Instruction& instruction, TakenLock taken) const {
    const LockValues& values = result.operations.at(taken);
    if (values.turn) return servesAnother(instruction);
    if (auto operation = givesBackOwn(instruction, takingOf(taken))) return operation;
    auto operation = lockOperationOf(instruction);
    if (!operation || operation->expected) return {};
    if (values.taken == kOwnNumber && operation->change != LockChange::Store) return {};
    const std::int64_t left = operation->leaves(values.taken);
    const bool frees = values.free ? left == *values.free : left != values.taken;
    return frees ? operation : std::nullopt;
  }

  /// Whether who is there has taken the lock, or is the only one of a block for which that was done.
  bool mayGiveBack(TakenLock taken, const BasicBlock* here) const {
    return !blockLocks.isOfBlock(taken) || blockLocks.hasTaken(taken, here) ||
           (blockLocks.isTakenFor(taken, here) && blockLocks.isOne(here));
  }

  /// Whether the lock is held by who is there whenever the flow of control says so: no thread of the block
  /// may give it back meanwhile.
  bool isHeldBy(TakenLock taken, const BasicBlock* here) const {
    if (!blockLocks.isOfBlock(taken)) return true;
    const bool isOwn = blockLocks.hasTaken(taken, here);
    if (!isOwn && !blockLocks.isTakenFor(taken, here)) return false;
    return all_of(releases, [&](const auto& release) {
      return release.second != taken || isApart(taken, release.first->getParent(), here);
    });
  }

  bool isApart(TakenLock taken, const BasicBlock* release, const BasicBlock* here) const {
    return (blockLocks.hasTaken(taken, release) && blockLocks.hasTaken(taken, here)) ||
           blockLocks.isApartFrom(release, here);
  }

  /// Where two threads of a block may give back what was taken once, neither does.
  void dropMeeting() {
    std::set<TakenLock> torn;
    for (const auto& [one, taken] : releases)
      for (const auto& [other, same] : releases)
        if (taken == same && blockLocks.isOfBlock(taken) && one != other &&
            !isApart(taken, one->getParent(), other->getParent()))
          torn.insert(taken);
    for (auto at = releases.begin(); at != releases.end();) {
      const bool isTorn = torn.count(at->second);
      if (isTorn) result.operations.erase(at->first);
      at = isTorn ? releases.erase(at) : std::next(at);
    }
  }

  void step(const Instruction& instruction, Known& known) const {
    for (State* state : {&known.held, &known.tried})
      for (auto& [taken, fenced] : *state)
        if (!fenced.isNever()) fenced.pass(instruction, blockLocks.isOfBlock(taken));
    if (locks.all.count(&instruction)) {
      known.held.erase(&instruction);
      known.tried[&instruction] = {acquireReach(instruction), 0, false};
    }
    if (TakenLock taken = givenBack(instruction, known.held)) {
      known.held.erase(taken);
      known.tried[taken] = Fenced::never();
    }
  }

  /// Ways that say nothing of a lock come from where the test for it has failed, or from before it was tried
  /// for.
  static void meetTried(State& into, const State& state) {
    for (const auto& [taken, fenced] : state) {
      const auto [entry, isNew] = into.try_emplace(taken, fenced);
      if (isNew) continue;
      if (fenced.isNever()) entry->second = fenced;
      if (!entry->second.isNever()) entry->second.meet(fenced);
    }
  }

  static void meet(State& into, const State& state) {
    for (auto at = into.begin(); at != into.end();) {
      auto other = state.find(at->first);
      if (other == state.end()) {
        at = into.erase(at);
        continue;
      }
      at->second.meet(other->second);
      ++at;
    }
  }

  /// In the next round of a loop the lock's place may be that of another one.
  void leaveRound(const BasicBlock* from, const BasicBlock* block, Known& known) const {
    const Loop* loop = loops.getLoopFor(block);
    if (!loop || loop->getHeader() != block || !loop->contains(from)) return;
    for (State* state : {&known.held, &known.tried})
      std::erase_if(*state, [&](const auto& one) { return changes(takingOf(one.first).pointer, *loop); });
  }

  /// What holds at the end of the edge.
  Known along(const BasicBlock* from, const BasicBlock* block, Known known) const {
    const auto& passed = blockLocks.passedOnEdges();
    if (auto others = passed.find({from, block}); others != passed.end())
      for (TakenLock lock : others->second) known.held[lock] = Fenced::never();
    if (auto taken = locks.onEdges.find({from, block}); taken != locks.onEdges.end())
      for (TakenLock lock : taken->second)
        if (auto tried = known.tried.find(lock);
            !locks.ambiguous.count(lock) && tried != known.tried.end() && !tried->second.isNever())
          known.held[lock] = tried->second;
    if (auto missed = locks.missedOnEdges.find({from, block}); missed != locks.missedOnEdges.end())
      for (TakenLock lock : missed->second) known.tried.erase(lock);
    leaveRound(from, block, known);
    return known;
  }

  bool forward() {
    bool changed = false;
    for (const BasicBlock* block : order) {
      std::optional<Known> known;
      if (block == order.front()) known.emplace();
      for (const BasicBlock* from : predecessors(block)) {
        auto end = after.find(from);
        if (end == after.end() || isNeverGone(from, block)) continue; // not reached, or not yet
        Known here = along(from, block, end->second);
        if (!known) {
          known = std::move(here);
          continue;
        }
        meet(known->held, here.held);
        meetTried(known->tried, here.tried);
      }
      if (!known) continue;
      before[block] = *known;
      for (const Instruction& instruction : *block) step(instruction, *known);
      auto [entry, isNew] = after.try_emplace(block, *known);
      if (!isNew && entry->second == *known) continue;
      entry->second = std::move(*known);
      changed = true;
    }
    return changed;
  }

  /// Notes what is held at each instruction, and which ones give back.
  void replay(const BasicBlock& block) {
    Known known = before[&block];
    for (const Instruction& instruction : block) {
      const State& state = known.held;
      if (TakenLock taken = givenBack(instruction, state)) {
        releases[&instruction] = taken;
        result.operations[&instruction] = result.operations.at(taken);
        unsigned& scope = scopes.try_emplace(taken, takingOf(taken).scope).first->second;
        scope = std::min(scope, freed(instruction, taken)->scope);
      }
      if (instruction.mayReadOrWriteMemory())
        for (const auto& [taken, fenced] : state)
          if (!fenced.isNever()) sinceTaken[&instruction].insert({taken, fenced});
      step(instruction, known);
    }
  }

  Fenced untilGiven(TakenLock taken, const BasicBlock& block) {
    Fenced least = Fenced::never();
    for (const BasicBlock* next : successors(&block)) {
      auto known = entries.find({next, taken});
      if (known != entries.end()) least.meet(known->second);
    }
    return least;
  }

  Fenced stepBack(TakenLock taken, const Instruction& instruction, Fenced until) const {
    if (&instruction == taken) return Fenced::never();
    if (auto given = releases.find(&instruction); given != releases.end() && given->second == taken)
      return {releaseReach(instruction), 0, false};
    if (!until.isNever()) until.pass(instruction, blockLocks.isOfBlock(taken));
    return until;
  }

  bool backward() {
    bool changed = false;
    for (auto block = order.rbegin(); block != order.rend(); ++block)
      for (TakenLock taken : locks.all) {
        Fenced until = untilGiven(taken, **block);
        for (auto at = (*block)->rbegin(); at != (*block)->rend(); ++at) until = stepBack(taken, *at, until);
        Fenced& entry = entries.try_emplace({*block, taken}, Fenced::never()).first->second;
        changed = changed || entry != until;
        entry = until;
      }
    return changed;
  }

  void join(const BasicBlock& block) {
    for (TakenLock taken : locks.all) {
      Fenced until = untilGiven(taken, block);
      for (auto at = block.rbegin(); at != block.rend(); ++at) {
        auto found = sinceTaken.find(&*at);
        auto mine = found == sinceTaken.end() ? State::iterator{} : found->second.find(taken);
        if (found != sinceTaken.end() && mine != found->second.end()) note(*at, taken, mine->second, until);
        until = stepBack(taken, *at, until);
      }
    }
  }

  void note(const Instruction& instruction, TakenLock taken, const Fenced& since, const Fenced& until) {
    auto scope = scopes.find(taken);
    unsigned widest = scope == scopes.end() ? takingOf(taken).scope : scope->second;
    const LockValues& values = result.operations.at(taken);
    HeldLock lock{
        takingOf(taken).pointer, taken, orderOf(since, widest), orderOf(until, widest), values.turn, {}, {}};
    if (values.isFreeElse && values.free) lock.startsAs = std::pair(*values.free, values.taken);
    if (blockLocks.isOfBlock(taken) && !blockLocks.hasTaken(taken, instruction.getParent()))
      lock.takenFor = blockLocks.takenBy(taken);
    if (lock.taken.isAny() && lock.givenBack.isAny()) result.held[&instruction].push_back(lock);
  }

  CriticalSections& result;
  const LoopInfo& loops;
  std::vector<const BasicBlock*> order;
  TakenLocks locks;
  BlockLocks blockLocks;
  std::map<const BasicBlock*, Known> before, after;
  std::map<const Instruction*, TakenLock> releases;
  std::map<TakenLock, unsigned> scopes; ///< the narrowest of the operations on a lock
  std::map<const Instruction*, State> sinceTaken;
  std::map<std::pair<const BasicBlock*, TakenLock>, Fenced> entries;
};

CriticalSections::CriticalSections(const llvm::Function& kernel, const DominatorTree& dominators,
                                   const LoopInfo& loops, const Broadcasts& broadcasts,
                                   const OneThreads& ones) {
  LockFinder(kernel, {dominators, loops, broadcasts}, ones, *this).run();
}

const std::vector<HeldLock>& CriticalSections::heldAt(const Instruction& instruction) const {
  static const std::vector<HeldLock> none;
  auto found = held.find(&instruction);
  return found == held.end() ? none : found->second;
}

std::size_t CriticalSections::countAt(const Instruction& instruction) const {
  auto found = counts.find(&instruction);
  return found == counts.end() ? 0 : found->second;
}

std::optional<LockValues> CriticalSections::valuesOf(const Instruction& instruction) const {
  auto found = operations.find(&instruction);
  return found == operations.end() ? std::nullopt : std::optional(found->second);
}

} // namespace kcheck::analyzer
