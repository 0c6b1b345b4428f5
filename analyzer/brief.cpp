#include "analyzer/brief.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

namespace kcheck::analyzer {
namespace {

constexpr unsigned kFewRounds = 64;

/// Rounds of the loop and those within, one in another; more than kFewRounds where that is not known.
unsigned roundsOf(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const unsigned own = evolution.getSmallConstantMaxTripCount(&loop);
  if (own == 0 || own > kFewRounds) return kFewRounds + 1;
  unsigned within = 0;
  for (const llvm::Loop* inner : loop) within = std::max(within, roundsOf(*inner, evolution));
  return std::min(own * std::max(within, 1U), kFewRounds + 1);
}

} // namespace

bool isBrief(const llvm::Function& kernel) {
  for (const llvm::Instruction& instruction : llvm::instructions(kernel))
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      if (const llvm::Function* callee = call->getCalledFunction(); !callee || !callee->isDeclaration())
        return false;
  auto& function = const_cast<llvm::Function&>(kernel); // the analyses look only
  llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  if (loops.empty()) return true;
  llvm::AssumptionCache assumptions(function);
  llvm::TargetLibraryInfoImpl library{llvm::Triple(function.getParent()->getTargetTriple())};
  llvm::TargetLibraryInfo libraryInfo(library);
  llvm::ScalarEvolution evolution(function, libraryInfo, assumptions, dominators,
                                  const_cast<llvm::LoopInfo&>(loops));
  unsigned rounds = 0;
  for (const llvm::Loop* loop : loops) rounds += std::min(roundsOf(*loop, evolution), kFewRounds + 1);
  return rounds <= kFewRounds;
}

} // namespace kcheck::analyzer
