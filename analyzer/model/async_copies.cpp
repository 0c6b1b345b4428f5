// A wait for groups of copies ends those that have been closed off by more commits than it leaves out.
#include "analyzer/model/async_copies.h"

#include "analyzer/model/barriers.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr unsigned kMostCommits = 16, kMostRounds = 4, kMostLoopRounds = 8;

StringRef assemblyOf(const Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  auto* assembly = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  if (!assembly) return {};
  StringRef text = StringRef(assembly->getAsmString()).trim();
  text.consume_front("{");
  return text.trim();
}

/// How many groups a wait leaves under way; nothing where the instruction is no such wait, or it is not
/// known.
std::optional<std::uint64_t> leftByWait(const Instruction& instruction, StringRef text) {
  if (!text.consume_front("cp.async.wait_group")) return {};
  StringRef operand = text.split(';').first.trim();
  std::uint64_t groups = 0;
  if (!operand.getAsInteger(10, groups)) return groups;
  auto& call = llvm::cast<CallInst>(instruction);
  auto* given =
      operand == "$0" && call.arg_size() == 1 ? dyn_cast<ConstantInt>(call.getArgOperand(0)) : nullptr;
  return given ? std::optional(given->getZExtValue()) : std::nullopt;
}

bool isBarrier(const Instruction& instruction) { return barrierOf(instruction).kind != BarrierKind::None; }

/// Whether it may access what a copy of this thread reads or writes.
bool mayAccess(const Instruction& instruction) {
  if (isa<DbgInfoIntrinsic>(instruction) || isa<LifetimeIntrinsic>(instruction)) return false;
  if (const Value* pointer = getLoadStorePointerOperand(&instruction))
    return !isa<AllocaInst>(getUnderlyingObject(pointer));
  if (!instruction.mayReadOrWriteMemory() || isBarrier(instruction)) return false;
  return !assemblyOf(instruction).starts_with("cp.async");
}

} // namespace

bool startsCopy(const Instruction& instruction) {
  StringRef text = assemblyOf(instruction);
  return text.starts_with("cp.async.ca.shared") || text.starts_with("cp.async.cg.shared");
}

AsyncCopies::AsyncCopies(llvm::Function& kernel, DominatorTree& dominators, LoopInfo& loops) {
  std::vector<const CallInst*> copies;
  for (const Instruction& instruction : instructions(kernel))
    if (startsCopy(instruction)) copies.push_back(llvm::cast<CallInst>(&instruction));
  if (copies.empty()) return;
  const TargetLibraryInfoImpl known;
  TargetLibraryInfo library(known);
  AssumptionCache assumptions(kernel);
  ScalarEvolution evolution(kernel, library, assumptions, dominators, loops);
  for (const CallInst* copy : copies) {
    const Loop* own = loops.getLoopFor(copy->getParent());
    const unsigned trips = own ? evolution.getSmallConstantMaxTripCount(own) : 0;
    follow(*copy, loops, trips ? std::optional(trips - 1) : std::nullopt);
  }
}

std::vector<CopyUnderWay> AsyncCopies::at(const BasicBlock* barrier) const {
  const auto found = barriers.find(barrier);
  return found == barriers.end() ? std::vector<CopyUnderWay>{} : found->second;
}

namespace {

/// Where a copy may be: at which instruction, and what has come since it was started.
struct Path {
  const Instruction* next;
  unsigned commits = 0, rounds = 0;
  const Loop* loop = nullptr; ///< that was entered since, the last one; and in which round of it,
  unsigned loopRound = 0;     ///< kMostLoopRounds: in a later one, or it is not known
  friend auto operator<=>(const Path&, const Path&) = default;
};

/// The edge into `next` enters a loop without the copy, goes round it, or leads out of it.
void countLoop(Path& path, const BasicBlock* from, const BasicBlock* next, const LoopInfo& loops) {
  const Loop* loop = loops.getLoopFor(next);
  const bool isHeader = loop && loop->getHeader() == next;
  if (isHeader && !loop->contains(from)) {
    path.loop = loop;
    path.loopRound = 0;
  } else if (loop != path.loop) {
    path.loop = loop;
    path.loopRound = kMostLoopRounds;
  } else if (isHeader) {
    path.loopRound = std::min(path.loopRound + 1, kMostLoopRounds);
  }
}

} // namespace

void AsyncCopies::follow(const CallInst& copy, const LoopInfo& loops, std::optional<unsigned> mostRounds) {
  const Loop* own = loops.getLoopFor(copy.getParent());
  std::vector<Path> todo{{copy.getNextNode(), 0, 0, own, kMostLoopRounds}};
  std::set<Path> seen;
  std::set<std::pair<const Instruction*, CopyUnderWay>> noted;
  while (!todo.empty()) {
    Path path = todo.back();
    todo.pop_back();
    bool isOver = false;
    const BasicBlock* block = path.next->getParent();
    CopyUnderWay here{&copy, path.rounds, {}};
    for (const Instruction* at = path.next; at && !isOver; at = at->getNextNode()) {
      StringRef text = assemblyOf(*at);
      if (text.starts_with("cp.async.mbarrier")) notFollowed.insert(&copy);
      if (text.starts_with("cp.async.commit_group"))
        path.commits = std::min(path.commits + 1, kMostCommits);
      else if (text.starts_with("cp.async.wait_all"))
        isOver = true;
      else if (auto left = leftByWait(*at, text))
        isOver = path.commits > *left;
      else if (isBarrier(*at)) {
        const bool isCounted = path.loop && path.loopRound < kMostLoopRounds;
        here.barrierRound = isCounted ? std::optional(path.loopRound) : std::nullopt;
        if (noted.insert({at, here}).second) barriers[block].push_back(here);
      } else if (mayAccess(*at)) {
        here.barrierRound = {};
        if (noted.insert({at, here}).second) accesses[at].push_back(here);
      }
    }
    if (isOver) continue;
    for (const BasicBlock* next : successors(block)) {
      Path ahead = path;
      ahead.next = &next->front();
      countLoop(ahead, block, next, loops);
      const Loop* loop = loops.getLoopFor(next);
      const bool goesRound = loop && loop->getHeader() == next && loop->contains(block);
      if (goesRound && loop->contains(own) && own) {
        if (loop == own && mostRounds && ahead.rounds >= *mostRounds) continue; // it is left before
        if (loop != own || ++ahead.rounds > kMostRounds) {
          notFollowed.insert(&copy);
          continue;
        }
      }
      if (seen.insert(ahead).second) todo.push_back(ahead);
    }
  }
}

} // namespace kcheck::analyzer
