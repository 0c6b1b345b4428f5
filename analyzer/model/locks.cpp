// Two passes over the control flow. Forward: which locks are held on every path, and the widest fence since
// each was taken. Backward: the widest fence on every path before it is given back. Both meet in the access
// between.
#include "analyzer/model/locks.h"

#include "analyzer/model/fences.h"
#include "analyzer/model/lock_operations.h"
#include "analyzer/model/taken_locks.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <map>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

// A reach, as of `fenceReach`, is how far a fence or atomic goes.
constexpr unsigned kNever = 3; ///< the lock is not given back

} // namespace

class LockFinder {
public:
  LockFinder(const llvm::Function& kernel, CriticalSections& result) : result(result) {
    for (const BasicBlock* block : ReversePostOrderTraversal<const llvm::Function*>(&kernel))
      order.push_back(block);
  }

  void run() {
    locks = takenLocks(order);
    if (locks.onEdges.empty()) return;
    result.operations = std::move(locks.values);
    while (forward()) {
    }
    for (const BasicBlock* block : order) replay(*block);
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
  using State = std::map<TakenLock, unsigned>; ///< with the widest fence since, or until

  /// Whether anything but the taking itself is ever written where the lock may be.
  bool mayBeGivenBack(TakenLock taken) const {
    const auto objectOf = [](const Value* pointer) { return getUnderlyingObject(pointer, 0); };
    const Value* lock = objectOf(lockOperationOf(*taken)->pointer);
    const bool isKnown = isa<llvm::Argument>(lock) || isa<GlobalVariable>(lock);
    auto mayWriteTo = [&](const Instruction& instruction) {
      if (!instruction.mayWriteToMemory() || &instruction == taken) return false;
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
    auto operation = lockOperationOf(instruction);
    if (!operation || operation->expected || locks.all.count(&instruction)) return nullptr;
    for (auto& [taken, fence] : state) {
      const LockValues& values = result.operations.at(taken);
      bool frees = values.free ? operation->stored == *values.free : operation->stored != values.taken;
      if (frees && isSameAddress(lockOperationOf(*taken)->pointer, operation->pointer)) return taken;
    }
    return nullptr;
  }

  void step(const Instruction& instruction, State& state) const {
    if (unsigned reach = fenceReach(instruction))
      for (auto& [taken, fence] : state) fence = std::max(fence, reach);
    if (locks.all.count(&instruction)) state.erase(&instruction);
    if (TakenLock taken = givenBack(instruction, state)) state.erase(taken);
  }

  static void meet(std::optional<State>& into, const State& state) {
    if (!into) {
      into = state;
      return;
    }
    for (auto at = into->begin(); at != into->end();) {
      auto other = state.find(at->first);
      if (other == state.end()) {
        at = into->erase(at);
        continue;
      }
      at->second = std::min(at->second, other->second);
      ++at;
    }
  }

  bool forward() {
    bool changed = false;
    for (const BasicBlock* block : order) {
      std::optional<State> state;
      if (block == order.front()) state.emplace();
      for (const BasicBlock* from : predecessors(block)) {
        auto known = after.find(from);
        if (known == after.end()) continue; // not reached yet
        State here = known->second;
        if (auto taken = locks.onEdges.find({from, block}); taken != locks.onEdges.end())
          for (TakenLock lock : taken->second)
            if (!locks.ambiguous.count(lock)) here[lock] = 0;
        meet(state, here);
      }
      if (!state) continue;
      before[block] = *state;
      for (const Instruction& instruction : *block) step(instruction, *state);
      auto [entry, isNew] = after.try_emplace(block, *state);
      if (!isNew && entry->second == *state) continue;
      entry->second = std::move(*state);
      changed = true;
    }
    return changed;
  }

  /// Notes what is held at each instruction, and which ones give back.
  void replay(const BasicBlock& block) {
    State state = before[&block];
    for (const Instruction& instruction : block) {
      if (TakenLock taken = givenBack(instruction, state)) {
        releases[&instruction] = taken;
        result.operations[&instruction] = result.operations.at(taken);
        unsigned& scope = scopes.try_emplace(taken, lockOperationOf(*taken)->scope).first->second;
        scope = std::min(scope, lockOperationOf(instruction)->scope);
      }
      if (!state.empty() && instruction.mayReadOrWriteMemory()) sinceTaken[&instruction] = state;
      step(instruction, state);
    }
  }

  unsigned untilGiven(TakenLock taken, const BasicBlock& block) {
    unsigned least = kNever;
    for (const BasicBlock* next : successors(&block)) {
      auto known = entries.find({next, taken});
      if (known != entries.end()) least = std::min(least, known->second);
    }
    return least;
  }

  unsigned stepBack(TakenLock taken, const Instruction& instruction, unsigned reach) const {
    if (&instruction == taken) return kNever;
    if (auto given = releases.find(&instruction); given != releases.end() && given->second == taken) return 0;
    return std::max(reach, fenceReach(instruction));
  }

  bool backward() {
    bool changed = false;
    for (auto block = order.rbegin(); block != order.rend(); ++block)
      for (TakenLock taken : locks.all) {
        unsigned reach = untilGiven(taken, **block);
        for (auto at = (*block)->rbegin(); at != (*block)->rend(); ++at) reach = stepBack(taken, *at, reach);
        unsigned& entry = entries.try_emplace({*block, taken}, kNever).first->second;
        changed = changed || entry != reach;
        entry = reach;
      }
    return changed;
  }

  void join(const BasicBlock& block) {
    for (TakenLock taken : locks.all) {
      unsigned reach = untilGiven(taken, block);
      for (auto at = block.rbegin(); at != block.rend(); ++at) {
        auto found = sinceTaken.find(&*at);
        auto mine = found == sinceTaken.end() ? State::iterator{} : found->second.find(taken);
        if (found != sinceTaken.end() && mine != found->second.end()) {
          auto scope = scopes.find(taken);
          unsigned widest = scope == scopes.end() ? lockOperationOf(*taken)->scope : scope->second;
          unsigned level = std::min({mine->second, reach, widest});
          if (level > 0)
            result.held[&*at].push_back(
                {lockOperationOf(*taken)->pointer, level == 1 ? AtomicScope::Block : AtomicScope::Device});
        }
        reach = stepBack(taken, *at, reach);
      }
    }
  }

  CriticalSections& result;
  std::vector<const BasicBlock*> order;
  TakenLocks locks;
  std::map<const BasicBlock*, State> before, after;
  std::map<const Instruction*, TakenLock> releases;
  std::map<TakenLock, unsigned> scopes; ///< the narrowest of the operations on a lock
  std::map<const Instruction*, State> sinceTaken;
  std::map<std::pair<const BasicBlock*, TakenLock>, unsigned> entries;
};

CriticalSections::CriticalSections(const llvm::Function& kernel) { LockFinder(kernel, *this).run(); }

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
