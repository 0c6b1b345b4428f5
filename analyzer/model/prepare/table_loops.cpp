// `int at[4]; for (j < 4) at[j] = ...; for (j < 4) a[at[j]] = ...`. Only of tables from which addresses or
// ways through the kernel follow, as every round costs a copy of the loop's body.
#include "analyzer/model/prepare/table_loops.h"

#include "analyzer/model/prepare/unrolling.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <set>
#include <vector>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr unsigned kMostInstructions = 1024;

/// Whether what is loaded becomes part of an address or decides where the kernel goes on.
bool leadsSomewhere(const LoadInst& load) {
  std::vector<const Instruction*> todo{&load};
  std::set<const Instruction*> seen;
  while (!todo.empty()) {
    const Instruction* instruction = todo.back();
    todo.pop_back();
    if (!seen.insert(instruction).second) continue;
    for (const User* user : instruction->users()) {
      if (isa<GetElementPtrInst, BranchInst, SwitchInst, IntToPtrInst>(user)) return true;
      if (getLoadStorePointerOperand(user) == instruction) return true;
      if (isa<BinaryOperator, CastInst, SelectInst, CmpInst, PHINode>(user))
        todo.push_back(cast<Instruction>(user));
    }
  }
  return false;
}

/// The accesses to a local array; empty where none of its reads matters, or it is used in other ways.
std::vector<Instruction*> accessesOf(AllocaInst& table) {
  std::vector<Instruction*> result;
  std::vector<Value*> todo{&table};
  bool matters = false;
  while (!todo.empty()) {
    Value* pointer = todo.back();
    todo.pop_back();
    for (User* user : pointer->users()) {
      if (isa<GetElementPtrInst, AddrSpaceCastInst>(user))
        todo.push_back(user);
      else if (getLoadStorePointerOperand(user) == pointer)
        result.push_back(cast<Instruction>(user));
      if (auto* load = dyn_cast<LoadInst>(user))
        matters =
            matters || (load->getType()->isIntOrPtrTy() && !load->isVolatile() && leadsSomewhere(*load));
    }
  }
  return matters ? result : std::vector<Instruction*>{};
}

class TableLoops {
public:
  explicit TableLoops(llvm::Function& kernel) : kernel(kernel), unrolling(kernel) {}

  /// Writes out one loop; false where there is none left.
  bool writeOutOne() {
    std::set<Loop*> wanted;
    for (Instruction& instruction : instructions(kernel))
      if (auto* table = dyn_cast<AllocaInst>(&instruction)) {
        std::set<Loop*> own;
        bool isFixed = true;
        for (Instruction* access : accessesOf(*table)) isFixed = isFixed && loopsOf(*access, own);
        if (isFixed) wanted.insert(own.begin(), own.end());
      }
    for (Loop* loop : wanted) // the innermost first
      if (std::none_of(wanted.begin(), wanted.end(),
                       [&](Loop* other) { return other != loop && loop->contains(other); }) &&
          unrolling.writeOut(*loop))
        return true;
    return false;
  }

private:
  /// The loops that move the place; of a write, they have to be short ones.
  bool loopsOf(Instruction& access, std::set<Loop*>& result) {
    Value* pointer = getLoadStorePointerOperand(&access);
    ScalarEvolution& evolution = unrolling.evolution();
    const SCEV* place = evolution.getSCEV(pointer);
    std::set<Loop*> own;
    bool isShort = true;
    for (Loop* loop = unrolling.loops().getLoopFor(access.getParent()); loop; loop = loop->getParentLoop())
      if (!evolution.isLoopInvariant(place, loop)) {
        // A counter of an inner loop moves the place in all loops around it.
        if (!SCEVExprContains(place, [&](const SCEV* part) {
              auto* counter = dyn_cast<SCEVAddRecExpr>(part);
              return counter && counter->getLoop() == loop;
            }))
          continue;
        isShort = isShort && canWriteOut(*loop);
        own.insert(loop);
      }
    if (isShort) result.insert(own.begin(), own.end());
    return isShort || isa<LoadInst>(access);
  }

  bool canWriteOut(const Loop& loop) {
    const unsigned rounds = unrolling.roundsOf(loop);
    if (rounds == 0) return false;
    std::size_t size = 0;
    for (const BasicBlock* block : loop.blocks())
      for (const Instruction& instruction : *block) {
        auto* call = dyn_cast<CallBase>(&instruction);
        if (call && (call->isConvergent() || call->cannotDuplicate())) return false;
        ++size;
      }
    return size * rounds <= kMostInstructions;
  }

  llvm::Function& kernel;
  Unrolling unrolling;
};

} // namespace

void writeOutTableLoops(llvm::Function& kernel) {
  constexpr unsigned kMostLoops = 16;
  bool hasTable = false;
  for (Instruction& instruction : instructions(kernel)) {
    auto* table = dyn_cast<AllocaInst>(&instruction);
    hasTable = hasTable || (table && !accessesOf(*table).empty());
  }
  if (!hasTable) return;
  simplifyLoops(kernel);
  for (unsigned count = 0; count < kMostLoops && TableLoops(kernel).writeOutOne(); ++count)
    dropDeadRounds(kernel);
}

} // namespace kcheck::analyzer
