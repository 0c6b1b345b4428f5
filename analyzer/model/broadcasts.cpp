#include "analyzer/model/broadcasts.h"

#include "analyzer/model/barriers.h"
#include "analyzer/model/prepare/member_objects.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

#include <cstdint>
#include <vector>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// An access to bytes `at`..`at + bytes` of a shared variable.
struct Touch {
  const Instruction* instruction;
  std::int64_t at, bytes;
  bool meets(const Touch& other) const { return at < other.at + other.bytes && other.at < at + bytes; }
};

/// Everything that a kernel does to one shared variable.
struct Uses {
  std::vector<Touch> loads, stores;
};

/// False where the variable is used in other ways than by loads and stores at fixed places.
bool collect(const Value& pointer, std::int64_t at, const llvm::Function& kernel, Uses& uses) {
  const DataLayout& layout = kernel.getDataLayout();
  for (const User* user : pointer.users()) {
    auto* instruction = dyn_cast<Instruction>(user);
    if (instruction && instruction->getFunction() != &kernel) continue;
    if (auto* address = dyn_cast<GEPOperator>(user)) {
      APInt offset(64, 0);
      if (!address->accumulateConstantOffset(layout, offset) ||
          !collect(*address, at + offset.getSExtValue(), kernel, uses))
        return false;
      continue;
    }
    if (isa<AddrSpaceCastOperator>(user)) {
      if (!collect(*user, at, kernel, uses)) return false;
      continue;
    }
    if (!instruction) return false;
    auto bytes = [&](Type* type) { return std::int64_t(layout.getTypeStoreSize(type).getFixedValue()); };
    if (auto* load = dyn_cast<LoadInst>(instruction)) {
      uses.loads.push_back({load, at, bytes(load->getType())});
      continue;
    }
    if (auto* store = dyn_cast<StoreInst>(instruction); store && store->getPointerOperand() == &pointer) {
      uses.stores.push_back({store, at, bytes(store->getValueOperand()->getType())});
      continue;
    }
    if (!isa<LifetimeIntrinsic>(instruction) && !isa<DbgInfoIntrinsic>(instruction)) return false;
  }
  return true;
}

/// Whether some path from the store to the load crosses no barrier.
bool meetWithoutBarrier(const BasicBlock* store, const BasicBlock* load) {
  std::vector<const BasicBlock*> todo{load};
  std::set<const BasicBlock*> seen;
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (!seen.insert(block).second) continue;
    if (block == store) return true;
    if (!beginsWithBarrier(*block)) todo.insert(todo.end(), pred_begin(block), pred_end(block));
  }
  return false;
}

} // namespace

Broadcasts::Broadcasts(const llvm::Function& kernel, const DominatorTree& dominators, const LoopInfo& loops,
                       bool areApart)
    : dominators(dominators), loops(loops) {
  constexpr unsigned kShared = 3;
  for (const GlobalVariable& variable : kernel.getParent()->globals()) {
    if (variable.getAddressSpace() != kShared || variable.isDeclaration()) continue;
    if (!areApart && isMember(variable)) continue;
    Uses uses;
    if (!collect(variable, 0, kernel, uses)) continue;
    for (const Touch& load : uses.loads) {
      const Touch* only = nullptr;
      unsigned writers = 0;
      for (const Touch& store : uses.stores)
        if (store.meets(load)) only = &store, ++writers;
      if (writers != 1 || only->at != load.at) continue;
      auto* store = cast<StoreInst>(only->instruction);
      if (store->isVolatile() || cast<LoadInst>(load.instruction)->isVolatile() ||
          store->getValueOperand()->getType() != load.instruction->getType())
        continue;
      const BasicBlock *from = store->getParent(), *to = load.instruction->getParent();
      if (meetWithoutBarrier(from, to)) continue;
      bool sameRound = true;
      for (const Loop* loop = loops.getLoopFor(from); loop; loop = loop->getParentLoop())
        sameRound = sameRound && loop->contains(to);
      if (!sameRound) continue;
      found[load.instruction] = store;
      sources.insert(store);
    }
  }
}

bool Broadcasts::areParted(const BasicBlock* parting, const Instruction& load) const {
  return arePartedFrom(found.at(&load)->getParent(), parting, load.getParent());
}

bool Broadcasts::areParted(const BasicBlock* from, const BasicBlock* until, const BasicBlock* parting,
                           const BasicBlock* here) const {
  return !meetWithoutBarrier(until, here) && arePartedFrom(from, parting, here);
}

bool Broadcasts::arePartedFrom(const BasicBlock* from, const BasicBlock* parting,
                               const BasicBlock* here) const {
  if (loops.getLoopFor(from) != loops.getLoopFor(parting)) return false;
  // A barrier that every path from there to the load crosses, and every thread of the block with it.
  for (auto* node = dominators.getNode(here); node && node->getBlock() != parting; node = node->getIDom())
    if (beginsWithBarrier(*node->getBlock())) return dominators.dominates(parting, here);
  return false;
}

} // namespace kcheck::analyzer
