// A wait for groups of copies ends those that have been closed off by more commits than it leaves out.
#include "analyzer/model/async_copies.h"

#include "analyzer/model/barriers.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <optional>
#include <tuple>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr unsigned kMostCommits = 16, kMostRounds = 4;

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

AsyncCopies::AsyncCopies(const llvm::Function& kernel, const LoopInfo& loops) {
  for (const Instruction& instruction : instructions(kernel))
    if (startsCopy(instruction)) follow(llvm::cast<CallInst>(instruction), loops);
}

std::vector<CopyUnderWay> AsyncCopies::at(const BasicBlock* barrier) const {
  const auto found = barriers.find(barrier);
  return found == barriers.end() ? std::vector<CopyUnderWay>{} : found->second;
}

void AsyncCopies::follow(const CallInst& copy, const LoopInfo& loops) {
  const Loop* own = loops.getLoopFor(copy.getParent());
  struct Path {
    const Instruction* next;
    unsigned commits, rounds;
  };
  std::vector<Path> todo{{copy.getNextNode(), 0, 0}};
  std::set<std::tuple<const Instruction*, unsigned, unsigned>> seen;
  std::set<std::pair<const Instruction*, unsigned>> noted;
  while (!todo.empty()) {
    Path path = todo.back();
    todo.pop_back();
    bool isOver = false;
    const BasicBlock* block = path.next->getParent();
    for (const Instruction* at = path.next; at && !isOver; at = at->getNextNode()) {
      StringRef text = assemblyOf(*at);
      if (text.starts_with("cp.async.mbarrier")) notFollowed.insert(&copy);
      if (text.starts_with("cp.async.commit_group"))
        path.commits = std::min(path.commits + 1, kMostCommits);
      else if (text.starts_with("cp.async.wait_all"))
        isOver = true;
      else if (auto left = leftByWait(*at, text))
        isOver = path.commits > *left;
      else if (isBarrier(*at) && noted.insert({at, path.rounds}).second)
        barriers[block].push_back({&copy, path.rounds});
      else if (mayAccess(*at) && noted.insert({at, path.rounds}).second)
        accesses[at].push_back({&copy, path.rounds});
    }
    if (isOver) continue;
    for (const BasicBlock* next : successors(block)) {
      unsigned rounds = path.rounds;
      const Loop* loop = loops.getLoopFor(next);
      const bool goesRound = loop && loop->getHeader() == next && loop->contains(block);
      if (goesRound && loop->contains(own) && own) {
        if (loop != own || ++rounds > kMostRounds) {
          notFollowed.insert(&copy);
          continue;
        }
      }
      if (seen.insert({&next->front(), path.commits, rounds}).second)
        todo.push_back({&next->front(), path.commits, rounds});
    }
  }
}

} // namespace kcheck::analyzer
