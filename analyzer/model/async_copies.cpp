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
constexpr unsigned kManyRounds = kMostRounds + 1; ///< or more

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
  if (auto* call = dyn_cast<CallBase>(&instruction); call && call->onlyAccessesInaccessibleMemory())
    return false;
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
  unsigned commits = 0;
  const Loop* counted = nullptr; ///< around the copy; how often the path has gone round it,
  unsigned rounds = 0;
  const Loop* entered = nullptr; ///< since, the outermost one; and in which round of it the path is,
  unsigned enteredRound = 0;     ///< kMostLoopRounds: in a later one
  friend auto operator<=>(const Path&, const Path&) = default;
};

/// The edge into `next` enters a loop without the copy, goes round it, or leads out of it.
void countLoop(Path& path, const BasicBlock* from, const BasicBlock* next, const LoopInfo& loops,
               const BasicBlock* copy) {
  const Loop* loop = loops.getLoopFor(next);
  if (loop && loop->contains(copy)) loop = nullptr;
  while (loop && loop->getParentLoop() && !loop->getParentLoop()->contains(copy))
    loop = loop->getParentLoop();
  if (!loop || !loop->contains(from))
    path.enteredRound = 0;
  else if (loop->getHeader() == next)
    path.enteredRound = std::min(path.enteredRound + 1, kMostLoopRounds);
  path.entered = loop;
}

/// The edge into `next` goes round a loop around the copy, or leads out of one. False: that is left before.
bool countRounds(Path& path, const BasicBlock* from, const BasicBlock* next, const LoopInfo& loops,
                 const Loop* own, std::optional<unsigned> mostRounds) {
  const bool isLeft = path.counted && !path.counted->contains(next);
  if (isLeft && path.rounds == kManyRounds) { // started in any of them
    while (path.counted && !path.counted->contains(next)) path.counted = path.counted->getParentLoop();
    path.rounds = 0;
  }
  const Loop* loop = loops.getLoopFor(next);
  const bool goesRound =
      loop && loop->getHeader() == next && loop->contains(from) && own && loop->contains(own);
  if (!goesRound) return true;
  if (loop == path.counted) {
    if (loop == own && mostRounds && path.rounds >= *mostRounds) return false;
    path.rounds = std::min(path.rounds + 1, kManyRounds);
  } else if (loop->contains(path.counted)) {
    path.counted = loop;
    path.rounds = 1;
  }
  return true;
}

/// Whether the path has come to a loop around the copy anew.
bool isBackInside(const Path& path, const BasicBlock* block, const Loop* own) {
  for (const Loop* loop = own; loop && loop != path.counted; loop = loop->getParentLoop())
    if (loop->contains(block)) return true;
  return false;
}

} // namespace

void AsyncCopies::follow(const CallInst& copy, const LoopInfo& loops, std::optional<unsigned> mostRounds) {
  const Loop* own = loops.getLoopFor(copy.getParent());
  std::vector<Path> todo{{copy.getNextNode(), 0, own, 0, nullptr, 0}};
  std::set<Path> seen;
  std::set<std::pair<const Instruction*, CopyUnderWay>> noted;
  const auto note = [&](const Path& path, const CopyUnderWay& here, const Instruction* at,
                        std::vector<CopyUnderWay>& place) {
    if (here.rounds == kManyRounds || isBackInside(path, at->getParent(), own))
      notFollowed.insert(&copy);
    else if (noted.insert({at, here}).second)
      place.push_back(here);
  };
  while (!todo.empty()) {
    Path path = todo.back();
    todo.pop_back();
    bool isOver = false;
    const BasicBlock* block = path.next->getParent();
    CopyUnderWay here{&copy, path.counted, path.rounds, path.entered, {}};
    if (path.entered && path.enteredRound < kMostLoopRounds) here.round = path.enteredRound;
    for (const Instruction* at = path.next; at && !isOver; at = at->getNextNode()) {
      StringRef text = assemblyOf(*at);
      if (text.starts_with("cp.async.mbarrier")) notFollowed.insert(&copy);
      if (text.starts_with("cp.async.commit_group"))
        path.commits = std::min(path.commits + 1, kMostCommits);
      else if (text.starts_with("cp.async.wait_all"))
        isOver = true;
      else if (auto left = leftByWait(*at, text))
        isOver = path.commits > *left;
      else if (isBarrier(*at))
        note(path, here, at, barriers[block]);
      else if (mayAccess(*at))
        note(path, here, at, accesses[at]);
    }
    if (isOver) continue;
    for (const BasicBlock* next : successors(block)) {
      Path ahead = path;
      ahead.next = &next->front();
      countLoop(ahead, block, next, loops, copy.getParent());
      if (!countRounds(ahead, block, next, loops, own, mostRounds)) continue;
      if (seen.insert(ahead).second) todo.push_back(ahead);
    }
  }
}

} // namespace kcheck::analyzer
