#include "instrument/pass/drawing_loops.h"

#include "instrument/pass/abi_calls.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace kcheck::instrument {

namespace {

/// An atomic of which the thread uses what it gets: who came first gets something else than the others.
bool draws(const llvm::Instruction& instruction) {
  return (llvm::isa<llvm::AtomicRMWInst>(instruction) || llvm::isa<llvm::AtomicCmpXchgInst>(instruction)) &&
         !instruction.use_empty();
}

/// What a value is made of, in `loop` alone where that is not null.
template <class Visit> void eachSource(const llvm::Value* value, const llvm::Loop* loop, Visit visit) {
  std::set<const llvm::Value*> seen;
  std::vector<const llvm::Value*> left{value};
  while (!left.empty()) {
    const llvm::Value* next = left.back();
    left.pop_back();
    if (!seen.insert(next).second) continue;
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(next);
    if (loop && (!instruction || !loop->contains(instruction))) continue;
    visit(*next);
    if (instruction) left.insert(left.end(), instruction->value_op_begin(), instruction->value_op_end());
  }
}

/// It begins at another place in each thread.
bool beginsApart(const llvm::PHINode& phi, const llvm::Loop& loop) {
  bool apart = false;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
    if (!loop.contains(phi.getIncomingBlock(i)))
      eachSource(phi.getIncomingValue(i), nullptr,
                 [&](const llvm::Value& source) { apart |= &source == phi.getFunction()->getArg(0); });
  return apart;
}

/// Each thread goes through work of its own, however much of it others have drawn.
bool isOwnWork(const llvm::Loop& loop) {
  bool own = false, drawn = false;
  llvm::SmallVector<llvm::BasicBlock*> exiting;
  loop.getExitingBlocks(exiting);
  for (const llvm::BasicBlock* block : exiting) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional()) continue;
    eachSource(branch->getCondition(), &loop, [&](const llvm::Value& source) {
      drawn |= draws(llvm::cast<llvm::Instruction>(source));
      const auto* phi = llvm::dyn_cast<llvm::PHINode>(&source);
      own |= phi && phi->getParent() == loop.getHeader() && beginsApart(*phi, loop);
    });
  }
  return own && !drawn;
}

void giveWay(llvm::Function& function, llvm::Value* asked, llvm::BasicBlock* latch,
             llvm::BasicBlock* header) {
  llvm::BasicBlock* between = llvm::SplitEdge(latch, header);
  llvm::MDNode* unlikely = llvm::MDBuilder(function.getContext()).createUnlikelyBranchWeights();
  llvm::IRBuilder<> builder(
      llvm::SplitBlockAndInsertIfThen(asked, between->getTerminator(), false, unlikely));
  builder.CreateCall(runtimeCall(*function.getParent(), Call::kcTurn), {function.getArg(0)});
}

} // namespace

bool giveWayWhereWorkIsDrawn(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  std::vector<std::pair<llvm::BasicBlock*, llvm::BasicBlock*>> edges; // from a loop's end to its start
  std::set<const llvm::Loop*> found;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const llvm::Loop* loop = draws(instruction) ? loops.getLoopFor(instruction.getParent()) : nullptr;
    if (!loop || !found.insert(loop).second || isOwnWork(*loop)) continue;
    llvm::SmallVector<llvm::BasicBlock*> latches;
    loop->getLoopLatches(latches);
    for (llvm::BasicBlock* latch : latches) edges.emplace_back(latch, loop->getHeader());
  }
  if (edges.empty()) return false;
  llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  llvm::Value* turns = loadField(builder, builder.getInt32Ty(), function.getArg(0),
                                 offsetof(abi::ThreadContext, turns), "turns");
  llvm::Value* asked = builder.CreateIsNotNull(turns);
  for (auto [latch, header] : edges) giveWay(function, asked, latch, header);
  return true;
}

} // namespace kcheck::instrument
