#include "analyzer/model/phased/counts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/CFG.h"

using namespace llvm;

namespace kcheck::analyzer {

Count Count::roundBefore(const Loop& loop) const {
  Count result = *this;
  if (auto term = terms.find({Kind::Round, &loop}); term != terms.end()) result.constant -= term->second;
  return result;
}

Count Count::inFirstRound(const Loop& loop) const {
  Count result = *this;
  result.terms.erase({Kind::Round, &loop});
  return result;
}

std::optional<std::int64_t> Count::most() const {
  std::int64_t result = constant;
  for (auto& [term, times] : terms) {
    if (times < 0) continue; // none of them is negative
    if (term.first != Kind::Block && term.first != Kind::Entered) return {};
    result += times;
  }
  return result;
}

Count operator-(Count a, const Count& b) {
  a.constant -= b.constant;
  for (auto& [term, times] : b.terms)
    if ((a.terms[term] -= times) == 0) a.terms.erase(term);
  return a;
}

Ways::Ways(const llvm::Function& function, const DominatorTree& dominators, const LoopInfo& loops)
    : dominators(dominators), loops(loops), behind(const_cast<llvm::Function&>(function)) {}

const BasicBlock* Ways::joinBehind(const BasicBlock& branch, const Instruction& inside) const {
  const auto* node = behind.getNode(&branch);
  const BasicBlock* join = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
  const Loop* loop = loopOf(inside);
  if (!join || loops.getLoopFor(join) != loop || loops.getLoopFor(&branch) != loop) return nullptr;
  if (loop && (!loop->getLoopLatch() || !dominators.dominates(join, loop->getLoopLatch()))) return nullptr;
  SmallPtrSet<BasicBlock*, 1> head;
  if (loop) head.insert(loop->getHeader());
  return isPotentiallyReachable(&join->front(), &inside, &head, &dominators, &loops) ? nullptr : join;
}

bool Ways::isPassedBefore(const Instruction& from, const BasicBlock& block) const {
  const auto join = joins.find(&from);
  return dominators.dominates(from.getParent(), &block) ||
         (join != joins.end() && dominators.dominates(join->second, &block));
}

bool Ways::isPassed(const Instruction& from, const Instruction& to) const {
  // Within a loop this is so in each round: a way round it in a later one would be one in the first.
  if (&from == &to) return false;
  const auto join = joins.find(&from);
  return dominators.dominates(&from, &to) ||
         (join != joins.end() && dominators.dominates(join->second, to.getParent()));
}

bool Ways::mayCome(const Instruction& from, const Instruction& to) const {
  return isPotentiallyReachable(&from, &to, nullptr, &dominators, &loops);
}

/// Before threads meet others at the join.
bool Ways::mayComeInRound(const Instruction& from, const Instruction& to, const BasicBlock& join) const {
  SmallPtrSet<BasicBlock*, 2> ends{const_cast<BasicBlock*>(&join)};
  if (const Loop* loop = loopOf(from)) ends.insert(loop->getHeader());
  return isPotentiallyReachable(&from, &to, &ends, &dominators, &loops);
}

bool Ways::isInEveryRound(const Instruction& instruction) const {
  const Loop* loop = loopOf(instruction);
  const BasicBlock* latch = loop ? loop->getLoopLatch() : nullptr;
  return latch && !loop->getParentLoop() && isPassedBefore(instruction, *latch);
}

std::optional<bool> Ways::isInLastRound(const Instruction& instruction) const {
  const Loop* loop = loopOf(instruction);
  SmallVector<BasicBlock*> exiting;
  loop->getExitingBlocks(exiting);
  if (all_of(exiting, [&](const BasicBlock* block) { return isPassedBefore(instruction, *block); }))
    return true;
  // None comes to the loop's head without having come round.
  if (all_of(exiting, [&](const BasicBlock* block) {
        return block == loop->getHeader() && block != instruction.getParent();
      }))
    return false;
  return {};
}

std::optional<Count> Ways::before(const Instruction& here,
                                  const std::vector<const Instruction*>& counted) const {
  Count result;
  for (const Instruction* one : counted) {
    const Loop* loop = loopOf(*one);
    const bool isHere = one == &here, isBefore = isPassed(*one, here);
    const auto join = joins.find(one);
    if (join != joins.end() && !isHere && !isBefore && mayComeInRound(*one, here, *join->second)) return {};
    if (!loop) {
      if (isBefore)
        ++result.constant;
      else if (!isHere && mayCome(*one, here))
        result.add(Count::Kind::Block, one->getParent());
      continue;
    }
    if (!isInEveryRound(*one)) return {};
    if (loop->contains(&here)) {
      result.add(Count::Kind::Round, loop);
      if (isBefore) ++result.constant;
    } else if (mayCome(*one, here)) {
      const auto last = isInLastRound(*one);
      if (!last) return {};
      result.add(Count::Kind::Rounds, loop);
      if (*last) result.add(Count::Kind::Entered, loop);
    }
  }
  return result;
}

} // namespace kcheck::analyzer
