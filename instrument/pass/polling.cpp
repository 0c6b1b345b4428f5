// Loops that wait for another thread: an exit depends on memory, and nothing in the loop itself brings the
// exit nearer. Simulated threads are not preempted, so such a loop must let others run; it gets a Yield on
// its back edges. A loop that is taken for one without need only runs slower. Where updates by the loop
// itself look like progress, and where it looks at one place after the other, it lets others run now and
// then: it may wait all the same.
#include "instrument/pass/exit_slices.h"
#include "instrument/pass/hooks.h"
#include "instrument/pass/loop_counters.h"
#include "instrument/pass/markers.h"
#include "instrument/pass/stages.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <utility>

namespace kcheck::instrument {

namespace {

/// Tells the runtime which reads wait for another thread: their hooks stand before them.
void markPolled(DeviceCode& code, const std::vector<ExitSlices::Awaited>& reads) {
  for (const auto& [read, probes] : reads)
    for (llvm::Instruction* before = read->getPrevNode(); before; before = before->getPrevNode()) {
      if (before->mayReadOrWriteMemory() && !llvm::isa<llvm::CallInst>(before)) break;
      if (!isCallTo(*before, Call::kcRead) && !isCallTo(*before, Call::kcAtomic)) continue;
      auto* site = llvm::cast<llvm::ConstantInt>(llvm::cast<llvm::CallInst>(before)->getArgOperand(3));
      std::uint16_t& flags = code.sites[std::uint32_t(site->getZExtValue())].flags;
      if (!(flags & abi::SitePolled)) flags |= abi::SiteProbes;
      flags |= abi::SitePolled;
      if (!probes) flags &= static_cast<std::uint16_t>(~abi::SiteProbes); // in the innermost loop, say
      break;
    }
}

enum class Waits {
  No,
  Perhaps,   ///< goes from place to place, or counts
  ForDraws,  ///< perhaps; what it draws by atomics alone decides
  ForMemory, ///< of which some may lead on, as in a list
  ForAWhile, ///< so many rounds at most
  Yes
};

/// In abi::Wait::a of a Yield.
std::uint32_t paceOf(Waits kind) {
  switch (kind) {
  case Waits::ForDraws: return abi::kRoundsOfDraws;
  case Waits::Perhaps:
  case Waits::ForMemory: return abi::kGetsOn;
  case Waits::ForAWhile: return abi::kGivesUp;
  default: return 0;
  }
}

/// What decides whether the loop is left from there; null where nothing does.
llvm::Value* conditionAt(const llvm::BasicBlock& block) {
  if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator()))
    return branch->isConditional() ? branch->getCondition() : nullptr;
  const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(block.getTerminator());
  return choice ? choice->getCondition() : nullptr;
}

/// Some exit asks how many rounds there have been.
bool countsRounds(const llvm::Loop& loop, llvm::ArrayRef<llvm::BasicBlock*> exiting) {
  ExitSlices builder(loop);
  return llvm::any_of(exiting, [&](const llvm::BasicBlock* block) {
    llvm::Value* condition = conditionAt(*block);
    return condition && builder.of(condition).givesUp;
  });
}

Waits waits(DeviceCode& code, const llvm::Loop& loop) {
  llvm::SmallVector<llvm::BasicBlock*> exiting;
  loop.getExitingBlocks(exiting);
  if (exiting.empty()) return Waits::Yes; // leaves by nothing: at least the others must get on
  ExitSlices builder(loop);
  bool memory = false, tickets = false, counted = false, bounded = false;
  for (llvm::BasicBlock* block : exiting) {
    llvm::Value* condition = conditionAt(*block);
    if (!condition) continue;
    const ExitSlice slice = builder.of(condition);
    if (slice.synchronises) {
      builder.addBranchesTo(block);
      markPolled(code, builder.awaited());
      return countsRounds(loop, exiting) ? Waits::ForAWhile : Waits::Yes;
    }
    memory |= slice.readsMemory && !slice.takesTickets;
    tickets |= slice.takesTickets;
    counted |= slice.counts;
    bounded |= slice.counts && !slice.countsPlaces;
  }
  if (memory && !counted) return Waits::ForMemory;
  if (tickets && !memory && !counted) return Waits::ForDraws;
  return (memory || tickets) && !bounded ? Waits::Perhaps : Waits::No;
}

/// A thread that sleeps in the loop gives up as the loop does.
void markSleeps(const llvm::Loop& loop) {
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& instruction : *block) {
      if (!isWaitMarker(instruction)) continue;
      auto& marker = llvm::cast<llvm::CallInst>(instruction);
      if (waitKindOf(marker) != abi::WaitKind::Yield) continue;
      llvm::Value* pace = marker.getArgOperand(1);
      if (isZero(pace, marker.getModule()->getDataLayout()))
        marker.setArgOperand(1, llvm::ConstantInt::get(pace->getType(), abi::kGivesUp));
    }
}

/// In each round, or in one of many.
void addYield(llvm::Loop& loop, Waits kind) {
  constexpr unsigned kRounds = abi::kRoundsOfDraws;
  const bool seldom = kind == Waits::Perhaps || kind == Waits::ForDraws;
  llvm::SmallVector<llvm::BasicBlock*> latches;
  loop.getLoopLatches(latches);
  llvm::AllocaInst* rounds = nullptr;
  if (seldom) {
    llvm::IRBuilder<> start(&*loop.getHeader()->getParent()->getEntryBlock().getFirstInsertionPt());
    rounds = start.CreateAlloca(start.getInt32Ty(), nullptr, "rounds");
    start.CreateStore(start.getInt32(0), rounds);
  }
  for (llvm::BasicBlock* latch : latches) {
    llvm::BasicBlock* between = llvm::SplitEdge(latch, loop.getHeader());
    llvm::IRBuilder<> builder(between->getTerminator());
    builder.SetCurrentDebugLocation(latch->getTerminator()->getDebugLoc());
    if (rounds) {
      auto* round = builder.CreateAdd(builder.CreateLoad(builder.getInt32Ty(), rounds), builder.getInt32(1));
      builder.CreateStore(round, rounds);
      auto* isOver =
          builder.CreateICmpEQ(builder.CreateURem(round, builder.getInt32(kRounds)), builder.getInt32(0));
      builder.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(isOver, between->getTerminator(), false));
    }
    waitMarker(builder, {.kind = abi::WaitKind::Yield, .a = builder.getInt32(paceOf(kind))});
  }
}

} // namespace

void yieldInPollingLoops(DeviceCode& code) {
  for (llvm::Function& function : code.module) {
    if (function.isDeclaration()) continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    std::vector<std::pair<llvm::Loop*, Waits>> found;
    for (llvm::Loop* loop : loops.getLoopsInPreorder())
      if (const Waits kind = waits(code, *loop); kind != Waits::No) found.emplace_back(loop, kind);
    for (auto [loop, kind] : found) {
      if (kind == Waits::ForAWhile) markSleeps(*loop);
      addYield(*loop, kind);
    }
  }
}

} // namespace kcheck::instrument
