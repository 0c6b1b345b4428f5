// Short loops around logged accesses are written out: accesses at constant distances then share one logged
// address.
#include "instrument/pass/unroll.h"
#include "instrument/pass/analyses.h"
#include "instrument/pass/markers.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

namespace kcheck::instrument {

namespace {

constexpr unsigned kMostTurns = 64, kMostInstructions = 3000;

/// Innermost, with a trip count that is known here, and without a wait.
unsigned turnsOf(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  if (!loop.isInnermost() || !loop.isLoopSimplifyForm()) return 0;
  unsigned turns = evolution.getSmallConstantTripCount(&loop);
  if (turns < 2 || turns > kMostTurns) return 0;
  unsigned instructions = 0;
  bool logs = false;
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block) {
      if (isWaitMarker(instruction)) return 0;
      logs |= isCallTo(instruction, Call::kcRead) || isCallTo(instruction, Call::kcWrite);
      ++instructions;
    }
  return logs && instructions * turns <= kMostInstructions ? turns : 0;
}

bool unrollOne(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    unsigned turns = turnsOf(*loop, evolution);
    if (!turns) continue;
    llvm::UnrollLoopOptions options{turns,
                                    /*Force=*/true,
                                    /*Runtime=*/false,
                                    /*AllowExpensiveTripCount=*/false,
                                    /*UnrollRemainder=*/false,
                                    /*ForgetAllSCEV=*/true};
    auto result = llvm::UnrollLoop(
        loop, options, &loops, &evolution, &analyses.getResult<llvm::DominatorTreeAnalysis>(function),
        &analyses.getResult<llvm::AssumptionAnalysis>(function),
        &analyses.getResult<llvm::TargetIRAnalysis>(function),
        &analyses.getResult<llvm::OptimizationRemarkEmitterAnalysis>(function), true);
    if (result == llvm::LoopUnrollResult::Unmodified) continue;
    analyses.invalidate(function, llvm::PreservedAnalyses::none());
    return true;
  }
  return false;
}

} // namespace

void unrollShortLoops(llvm::Function& function) {
  Analyses analyses;
  {
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::LoopSimplifyPass());
    passes.addPass(llvm::LCSSAPass());
    llvm::LoopPassManager inLoops;
    inLoops.addPass(llvm::LoopRotatePass());
    inLoops.addPass(llvm::IndVarSimplifyPass());
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(inLoops)));
    passes.addPass(llvm::LoopSimplifyPass());
    passes.addPass(llvm::LCSSAPass());
    analyses.functions.invalidate(function, passes.run(function, analyses.functions));
  }
  constexpr unsigned mostLoops = 64;
  for (unsigned i = 0; i < mostLoops && unrollOne(function, analyses.functions); ++i) {
  }
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(
      llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().hoistCommonInsts(false).sinkCommonInsts(false)));
  passes.addPass(llvm::EarlyCSEPass());
  passes.run(function, analyses.functions);
}

} // namespace kcheck::instrument
