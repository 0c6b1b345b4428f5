// Two passes over the control flow. Forward: which locks are held on every path, and the widest fence since
// each was taken. Backward: the widest fence on every path before it is given back. Both meet in the access
// between.
#include "analyzer/model/locks.h"

#include "analyzer/model/fences.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"

#include <algorithm>
#include <map>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

// How far a fence or atomic reaches: 0 not at all, 1 the block, 2 the device.
constexpr unsigned kNever = 3; ///< the lock is not given back

std::optional<std::int64_t> constantOf(const Value* value) {
  auto* number = dyn_cast<ConstantInt>(value);
  return number && number->getBitWidth() <= 64 ? std::optional(number->getSExtValue()) : std::nullopt;
}

/// atomicExch or atomicCAS of constants.
struct Operation {
  const Value* pointer = nullptr;
  std::optional<std::int64_t> expected; ///< of atomicCAS
  std::int64_t stored = 0;
  unsigned scope = 2;
};

std::optional<Operation> operationOf(const Instruction& instruction) {
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
    auto stored = constantOf(update->getValOperand());
    if (update->getOperation() != AtomicRMWInst::Xchg || !stored) return {};
    return Operation{update->getPointerOperand(), {}, *stored, 2};
  }
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    auto expected = constantOf(exchange->getCompareOperand()),
         stored = constantOf(exchange->getNewValOperand());
    if (!expected || !stored || *expected == *stored) return {};
    return Operation{exchange->getPointerOperand(), expected, *stored, 2};
  }
  auto* call = dyn_cast<IntrinsicInst>(&instruction);
  StringRef name = call ? call->getCalledFunction()->getName() : StringRef();
  if (!name.consume_front("llvm.nvvm.atomic.")) return {};
  unsigned scope = name.contains(".cta") ? 1 : 2;
  if (name.starts_with("exch.gen.i")) {
    auto stored = constantOf(call->getArgOperand(1));
    return stored ? std::optional(Operation{call->getArgOperand(0), {}, *stored, scope}) : std::nullopt;
  }
  if (name.starts_with("cas.gen.i")) {
    auto expected = constantOf(call->getArgOperand(1)), stored = constantOf(call->getArgOperand(2));
    if (!expected || !stored || *expected == *stored) return {};
    return Operation{call->getArgOperand(0), expected, *stored, scope};
  }
  return {};
}

/// Whether both compute the same address from the same values.
bool isSame(const Value* x, const Value* y, unsigned depth = 8) {
  x = x->stripPointerCasts();
  y = y->stripPointerCasts();
  if (x == y) return true;
  auto *a = dyn_cast<Instruction>(x), *b = dyn_cast<Instruction>(y);
  if (!a || !b || depth == 0 || a->getOpcode() != b->getOpcode() || a->getType() != b->getType() ||
      a->getNumOperands() != b->getNumOperands())
    return false;
  auto *read = dyn_cast<IntrinsicInst>(a), *again = dyn_cast<IntrinsicInst>(b); // indices and dimensions
  const bool isIndex =
      read && again && read->getIntrinsicID() == again->getIntrinsicID() && read->doesNotAccessMemory();
  if (!isa<GetElementPtrInst>(a) && !isa<CastInst>(a) && !isa<BinaryOperator>(a) && !isIndex) return false;
  if (auto* element = dyn_cast<GetElementPtrInst>(a);
      element && element->getSourceElementType() != cast<GetElementPtrInst>(b)->getSourceElementType())
    return false;
  for (unsigned i = 0; i < a->getNumOperands(); ++i)
    if (!isSame(a->getOperand(i), b->getOperand(i), depth - 1)) return false;
  return true;
}

} // namespace

class LockFinder {
public:
  LockFinder(const llvm::Function& kernel, CriticalSections& result) : result(result) {
    for (const BasicBlock* block : ReversePostOrderTraversal<const llvm::Function*>(&kernel))
      order.push_back(block);
  }

  void run() {
    if (!findTaken()) return;
    while (forward()) {
    }
    for (const BasicBlock* block : order) replay(*block);
    while (backward()) {
    }
    for (const BasicBlock* block : order) join(*block);
    std::set<Taken> forGood; // nobody waits for what is never given back
    for (Taken taken : takes)
      if (!mayBeGivenBack(taken)) forGood.insert(taken);
    for (auto& [instruction, state] : sinceTaken)
      result.counts[instruction] =
          std::size_t(count_if(state, [&](const auto& held) { return !forGood.count(held.first); }));
    for (auto& [instruction, taken] : releases) result.releases.insert(instruction);
  }

private:
  using Taken = const Instruction*;        ///< a lock, by the instruction that takes it
  using State = std::map<Taken, unsigned>; ///< with the widest fence since, or until
  using Edge = std::pair<const BasicBlock*, const BasicBlock*>;

  /// Whether anything but the taking itself is ever written where the lock may be.
  bool mayBeGivenBack(Taken taken) const {
    const auto objectOf = [](const Value* pointer) { return getUnderlyingObject(pointer, 0); };
    const Value* lock = objectOf(operationOf(*taken)->pointer);
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

  /// The edges on which a lock has been taken.
  bool findTaken() {
    for (const BasicBlock* block : order) {
      auto* branch = dyn_cast<BranchInst>(block->getTerminator());
      if (!branch || branch->isUnconditional() || branch->getSuccessor(0) == branch->getSuccessor(1))
        continue;
      for (bool way : {true, false}) {
        std::set<Taken> now;
        takenWhere(branch->getCondition(), way, now, 8);
        if (!now.empty()) edges[{block, branch->getSuccessor(way ? 0 : 1)}] = std::move(now);
      }
    }
    return !edges.empty();
  }

  /// What is taken where `condition` is `way`.
  void takenWhere(const Value* condition, bool way, std::set<Taken>& now, unsigned depth) {
    if (depth == 0) return;
    if (auto* flip = dyn_cast<BinaryOperator>(condition)) {
      if (flip->getOpcode() == Instruction::Xor && constantOf(flip->getOperand(1)))
        return takenWhere(flip->getOperand(0), !way, now, depth - 1);
      if (flip->getOpcode() == (way ? Instruction::And : Instruction::Or))
        for (const Value* part : flip->operands()) takenWhere(part, way, now, depth - 1);
      return;
    }
    if (auto* choice = dyn_cast<SelectInst>(condition)) { // a && b, a || b
      auto other = constantOf(way ? choice->getFalseValue() : choice->getTrueValue());
      if (!other || (*other != 0) == way) return;
      takenWhere(choice->getCondition(), way, now, depth - 1);
      return takenWhere(way ? choice->getTrueValue() : choice->getFalseValue(), way, now, depth - 1);
    }
    if (auto* narrow = dyn_cast<TruncInst>(condition)) {
      auto* wide = dyn_cast<ZExtInst>(narrow->getOperand(0));
      if (wide && wide->getOperand(0)->getType()->isIntegerTy(1))
        takenWhere(wide->getOperand(0), way, now, depth - 1);
      return;
    }
    auto* field = dyn_cast<ExtractValueInst>(condition);
    if (field && field->getIndices().front() == 1 && way) {
      if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(field->getAggregateOperand()))
        take(*exchange, {}, now);
      return;
    }
    auto* compare = dyn_cast<ICmpInst>(condition);
    if (!compare || !compare->isEquality()) return;
    auto given = constantOf(compare->getOperand(1));
    if (!given) return;
    bool equal = (compare->getPredicate() == ICmpInst::ICMP_EQ) == way;
    const Value* found = compare->getOperand(0);
    if (auto* wide = dyn_cast<ZExtInst>(found); wide && wide->getOperand(0)->getType()->isIntegerTy(1)) {
      if (*given == 0 || *given == 1) takenWhere(wide->getOperand(0), (*given == 1) == equal, now, depth - 1);
      return;
    }
    if (auto* part = dyn_cast<ExtractValueInst>(found); part && part->getIndices().front() == 0)
      found = part->getAggregateOperand();
    auto* atomic = dyn_cast<Instruction>(found);
    auto operation = atomic ? operationOf(*atomic) : std::nullopt;
    if (!operation) return;
    if (operation->expected) {
      if (equal && given == operation->expected) take(*atomic, {}, now);
    } else if (equal ? *given != operation->stored : *given == operation->stored) {
      take(*atomic, equal ? given : std::nullopt, now);
    }
  }

  void take(const Instruction& atomic, std::optional<std::int64_t> free, std::set<Taken>& now) {
    Operation operation = *operationOf(atomic);
    if (operation.expected) free = operation.expected;
    LockValues values{free, operation.stored};
    auto [entry, isNew] = result.operations.try_emplace(&atomic, values);
    if (!isNew && entry->second != values) ambiguous.insert(&atomic);
    now.insert(&atomic);
    takes.insert(&atomic);
  }

  /// The lock among the held ones that the instruction gives back.
  Taken givenBack(const Instruction& instruction, const State& state) const {
    auto operation = operationOf(instruction);
    if (!operation || operation->expected || takes.count(&instruction)) return nullptr;
    for (auto& [taken, fence] : state) {
      const LockValues& values = result.operations.at(taken);
      bool frees = values.free ? operation->stored == *values.free : operation->stored != values.taken;
      if (frees && isSame(operationOf(*taken)->pointer, operation->pointer)) return taken;
    }
    return nullptr;
  }

  void step(const Instruction& instruction, State& state) const {
    if (unsigned reach = fenceReach(instruction))
      for (auto& [taken, fence] : state) fence = std::max(fence, reach);
    if (takes.count(&instruction)) state.erase(&instruction);
    if (Taken taken = givenBack(instruction, state)) state.erase(taken);
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
        if (auto taken = edges.find({from, block}); taken != edges.end())
          for (Taken lock : taken->second)
            if (!ambiguous.count(lock)) here[lock] = 0;
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
      if (Taken taken = givenBack(instruction, state)) {
        releases[&instruction] = taken;
        result.operations[&instruction] = result.operations.at(taken);
        unsigned& scope = scopes.try_emplace(taken, operationOf(*taken)->scope).first->second;
        scope = std::min(scope, operationOf(instruction)->scope);
      }
      if (!state.empty() && instruction.mayReadOrWriteMemory()) sinceTaken[&instruction] = state;
      step(instruction, state);
    }
  }

  unsigned untilGiven(Taken taken, const BasicBlock& block) {
    unsigned least = kNever;
    for (const BasicBlock* next : successors(&block)) {
      auto known = entries.find({next, taken});
      if (known != entries.end()) least = std::min(least, known->second);
    }
    return least;
  }

  unsigned stepBack(Taken taken, const Instruction& instruction, unsigned reach) const {
    if (&instruction == taken) return kNever;
    if (auto given = releases.find(&instruction); given != releases.end() && given->second == taken) return 0;
    return std::max(reach, fenceReach(instruction));
  }

  bool backward() {
    bool changed = false;
    for (auto block = order.rbegin(); block != order.rend(); ++block)
      for (Taken taken : takes) {
        unsigned reach = untilGiven(taken, **block);
        for (auto at = (*block)->rbegin(); at != (*block)->rend(); ++at) reach = stepBack(taken, *at, reach);
        unsigned& entry = entries.try_emplace({*block, taken}, kNever).first->second;
        changed = changed || entry != reach;
        entry = reach;
      }
    return changed;
  }

  void join(const BasicBlock& block) {
    for (Taken taken : takes) {
      unsigned reach = untilGiven(taken, block);
      for (auto at = block.rbegin(); at != block.rend(); ++at) {
        auto found = sinceTaken.find(&*at);
        auto mine = found == sinceTaken.end() ? State::iterator{} : found->second.find(taken);
        if (found != sinceTaken.end() && mine != found->second.end()) {
          auto scope = scopes.find(taken);
          unsigned widest = scope == scopes.end() ? operationOf(*taken)->scope : scope->second;
          unsigned level = std::min({mine->second, reach, widest});
          if (level > 0)
            result.held[&*at].push_back(
                {operationOf(*taken)->pointer, level == 1 ? AtomicScope::Block : AtomicScope::Device});
        }
        reach = stepBack(taken, *at, reach);
      }
    }
  }

  CriticalSections& result;
  std::vector<const BasicBlock*> order;
  std::map<Edge, std::set<Taken>> edges;
  std::set<Taken> takes, ambiguous;
  std::map<const BasicBlock*, State> before, after;
  std::map<const Instruction*, Taken> releases;
  std::map<Taken, unsigned> scopes; ///< the narrowest of the operations on a lock
  std::map<const Instruction*, State> sinceTaken;
  std::map<std::pair<const BasicBlock*, Taken>, unsigned> entries;
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
