#include "analyzer/model/prepare/unrolling.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

using namespace llvm;

namespace kcheck::analyzer {

static constexpr const char* kCalm = "kcheck.not-volatile";

Unrolling::Unrolling(llvm::Function& kernel)
    : kernel(kernel), dominators(kernel), loopInfo(dominators), library(known), assumptions(kernel),
      scalars(kernel, library, assumptions, dominators, loopInfo), costs(kernel.getDataLayout()) {}

unsigned Unrolling::roundsOf(const Loop& loop) {
  constexpr unsigned kMostRounds = 32;
  const unsigned rounds = scalars.getSmallConstantTripCount(&loop);
  const bool isPossible = loop.getLoopPreheader() && loop.getLoopLatch() && loop.isSafeToClone();
  return isPossible && rounds <= kMostRounds ? rounds : 0;
}

bool Unrolling::writeOut(Loop& loop) {
  LLVMContext& context = kernel.getContext();
  for (BasicBlock* block : loop.blocks())
    for (Instruction& instruction : *block)
      if (auto* load = dyn_cast<LoadInst>(&instruction); load && !load->isVolatile()) {
        load->setVolatile(true);
        load->setMetadata(kCalm, MDNode::get(context, {}));
      }
  UnrollLoopOptions options{};
  options.Count = scalars.getSmallConstantTripCount(&loop);
  options.Force = true;
  options.ForgetAllSCEV = true;
  const auto result = UnrollLoop(&loop, options, &loopInfo, &scalars, &dominators, &assumptions, &costs,
                                 nullptr, /*PreserveLCSSA=*/true);
  for (Instruction& instruction : instructions(kernel))
    if (instruction.getMetadata(kCalm)) {
      cast<LoadInst>(instruction).setVolatile(false);
      instruction.setMetadata(kCalm, nullptr);
    }
  return result == LoopUnrollResult::FullyUnrolled;
}

void simplifyLoops(llvm::Function& kernel) {
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  AssumptionCache assumptions(kernel);
  const TargetLibraryInfoImpl known;
  TargetLibraryInfo library(known);
  ScalarEvolution evolution(kernel, library, assumptions, dominators, loops);
  for (Loop* loop : loops) {
    simplifyLoop(loop, &dominators, &loops, &evolution, &assumptions, nullptr, /*PreserveLCSSA=*/false);
    formLCSSARecursively(*loop, dominators, &loops, &evolution);
  }
}

void dropDeadRounds(llvm::Function& kernel) {
  for (BasicBlock& block : kernel) ConstantFoldTerminator(&block);
  EliminateUnreachableBlocks(kernel);
}

} // namespace kcheck::analyzer
