#include "analyzer/model/taken_locks.h"

#include "analyzer/model/sightings.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

class Finder {
public:
  explicit Finder(const LoopInfo& loops) : loops(loops) {}

  TakenLocks find(const std::vector<const BasicBlock*>& blocks) {
    for (const BasicBlock* block : blocks) {
      auto* branch = dyn_cast<BranchInst>(block->getTerminator());
      if (!branch || branch->isUnconditional() || branch->getSuccessor(0) == branch->getSuccessor(1))
        continue;
      for (bool way : {true, false}) {
        Taken taken;
        isWhole = true;
        questionsLeft = kMostQuestions;
        takenWhere(branch->getCondition(), way, *block, taken);
        if (taken.empty()) continue;
        std::set<TakenLock> now;
        for (const auto& [lock, values] : taken) {
          note(*lock, values);
          now.insert(lock);
        }
        if (isWhole) result.missedOnEdges[{block, branch->getSuccessor(way ? 1 : 0)}] = now;
        result.onEdges[{block, branch->getSuccessor(way ? 0 : 1)}] = std::move(now);
      }
    }
    return std::move(result);
  }

private:
  using Taken = std::map<TakenLock, LockValues>;
  static constexpr unsigned kMostQuestions = 64;

  /// What is taken where `condition` is `way` at the end of the block.
  void takenWhere(const Value* condition, bool way, const BasicBlock& at, Taken& now) {
    if (questionsLeft == 0) return;
    --questionsLeft;
    if (auto* phi = dyn_cast<PHINode>(condition)) return takenWhere(*phi, 1, way, at, now);
    if (auto* flip = dyn_cast<BinaryOperator>(condition)) {
      if (flip->getOpcode() == Instruction::Xor && constantOf(flip->getOperand(1)))
        return takenWhere(flip->getOperand(0), !way, at, now);
      isWhole = false;
      if (flip->getOpcode() == (way ? Instruction::And : Instruction::Or))
        for (const Value* part : flip->operands()) takenWhere(part, way, at, now);
      return;
    }
    if (auto* choice = dyn_cast<SelectInst>(condition)) { // a && b, a || b
      isWhole = false;
      auto other = constantOf(way ? choice->getFalseValue() : choice->getTrueValue());
      if (!other || (*other != 0) == way) return;
      takenWhere(choice->getCondition(), way, at, now);
      return takenWhere(way ? choice->getTrueValue() : choice->getFalseValue(), way, at, now);
    }
    if (auto* narrow = dyn_cast<TruncInst>(condition)) {
      auto* wide = dyn_cast<ZExtInst>(narrow->getOperand(0));
      if (wide && wide->getOperand(0)->getType()->isIntegerTy(1))
        takenWhere(wide->getOperand(0), way, at, now);
      else if (auto* phi = dyn_cast<PHINode>(narrow->getOperand(0)); phi && isTruth(*phi))
        takenWhere(*phi, 1, way, at, now);
      else if (!way)
        takeBits(narrow->getOperand(0), 1, now);
      return;
    }
    auto* field = dyn_cast<ExtractValueInst>(condition);
    if (field && field->getIndices().front() == 1 && way) {
      if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(field->getAggregateOperand()))
        take(*exchange, {}, now);
      return;
    }
    auto* compare = dyn_cast<ICmpInst>(condition);
    if (!compare || !compare->isEquality()) return;
    auto given = constantOf(compare->getOperand(1));
    bool equal = (compare->getPredicate() == ICmpInst::ICMP_EQ) == way;
    if (!given) return equal ? takeTurn(*compare, now) : void();
    whereFound(compare->getOperand(0), *given, equal, at, now);
  }

  /// 0 or 1, by what it is made of.
  static bool isTruth(const PHINode& number, unsigned depth = 4) {
    return depth != 0 && all_of(number.incoming_values(), [&](const Use& value) {
             if (const auto known = constantOf(value)) return *known == 0 || *known == 1;
             if (auto* other = dyn_cast<PHINode>(value)) return isTruth(*other, depth - 1);
             auto* wide = dyn_cast<ZExtInst>(value);
             return wide && wide->getOperand(0)->getType()->isIntegerTy(1);
           });
  }

  /// What is taken where it is `given`, or is not, `equal` says.
  void whereFound(const Value* found, std::int64_t given, bool equal, const BasicBlock& at, Taken& now) {
    if (auto* phi = dyn_cast<PHINode>(found)) return takenWhere(*phi, given, equal, at, now);
    if (auto* wide = dyn_cast<ZExtInst>(found); wide && wide->getOperand(0)->getType()->isIntegerTy(1)) {
      if (given == 0 || given == 1) takenWhere(wide->getOperand(0), (given == 1) == equal, at, now);
      return;
    }
    if (equal && given == 0 && takeBits(found, -1, now)) return;
    if (auto* bits = dyn_cast<BinaryOperator>(found); bits && bits->getOpcode() == Instruction::And) {
      const auto looked = constantOf(bits->getOperand(1));
      if (looked && equal && given == 0) takeBits(bits->getOperand(0), *looked, now);
      return;
    }
    if (auto* part = dyn_cast<ExtractValueInst>(found); part && part->getIndices().front() == 0)
      found = part->getAggregateOperand();
    auto* atomic = dyn_cast<Instruction>(found);
    auto operation = atomic ? lockOperationOf(*atomic) : std::nullopt;
    if (!operation || operation->change != LockChange::Store) return;
    if (operation->expected) {
      if (given == (equal ? operation->expected : operation->stored)) take(*atomic, {}, now, !equal);
    } else if (equal ? given != operation->stored : given == operation->stored) {
      take(*atomic, equal ? std::optional(given) : std::nullopt, now);
    }
  }

  /// Where the number, which is `given` or is not, comes from several ways: what is taken on all that may
  /// make it so, and has not been tried for again since.
  void takenWhere(const PHINode& number, std::int64_t given, bool equal, const BasicBlock& at, Taken& now) {
    if (questionsLeft == 0) return;
    --questionsLeft;
    std::optional<Taken> all;
    std::vector<const BasicBlock*> others;
    const bool isTruth = number.getType()->isIntegerTy(1);
    for (unsigned i = 0; i < number.getNumIncomingValues(); ++i) {
      const Value* value = number.getIncomingValue(i);
      const BasicBlock* from = number.getIncomingBlock(i);
      if (const auto known = constantOf(value)) {
        if ((isTruth ? (*known != 0) == (given != 0) : *known == given) == equal) return; // without a lock
        others.push_back(from);
        continue;
      }
      Taken here;
      if (isTruth)
        takenWhere(value, (given != 0) == equal, *from, here);
      else
        whereFound(value, given, equal, *from, here);
      if (!all)
        all = std::move(here);
      else
        std::erase_if(*all, [&](const auto& one) {
          auto other = here.find(one.first);
          return other == here.end() || other->second != one.second;
        });
    }
    for (const auto& [lock, values] : all.value_or(Taken{})) {
      if (isTriedAgain(*lock, *number.getParent(), at)) continue;
      now.emplace(lock, values);
      // Who has come another way may have taken it, too.
      if (any_of(others, [&](const BasicBlock* from) { return leadsTo(lock->getParent(), from); }))
        isWhole = false;
    }
  }

  /// Whether the way from the start of a block to the end of another one may go by the taking.
  bool isTriedAgain(const Instruction& lock, const BasicBlock& from, const BasicBlock& to) const {
    const BasicBlock* there = lock.getParent();
    if (there == &from) return true;
    if (&from == &to) return false;
    SmallPtrSet<BasicBlock*, 1> start{const_cast<BasicBlock*>(&from)}; // coming by it again is another way
    return leadsTo(&from, there) && isPotentiallyReachable(there, &to, &start, nullptr, &loops);
  }

  bool leadsTo(const BasicBlock* from, const BasicBlock* to) const {
    return isPotentiallyReachable(from, to, nullptr, nullptr, &loops);
  }

  /// By atomicOr, which says that the bits which are looked at were not set: it has set some of them.
  bool takeBits(const Value* found, std::int64_t looked, Taken& now) {
    auto* atomic = dyn_cast<Instruction>(found);
    const auto operation = atomic ? lockOperationOf(*atomic) : std::nullopt;
    if (!operation || operation->change != LockChange::Or || !(operation->stored & looked)) return false;
    isWhole = false; // other bits may be looked at too
    take(*atomic, 0, now);
    return true;
  }

  /// Where the number that is served is the one that the thread has drawn, or computed: who does not find it
  /// looks again.
  void takeTurn(const ICmpInst& compare, Taken& now) {
    for (unsigned side : {0u, 1u}) {
      auto* look = dyn_cast<Instruction>(compare.getOperand(side));
      const Value* number = compare.getOperand(1 - side);
      auto* other = dyn_cast<Instruction>(number);
      const bool isDrawn = drawOf(number) != nullptr;
      if (look && lookedAt(*look) && loops.getLoopFor(look->getParent()) &&
          (isDrawn || !other || !lookedAt(*other)))
        now.try_emplace(look, LockValues{{}, 0, number});
    }
  }

  void take(const Instruction& atomic, std::optional<std::int64_t> free, Taken& now,
            bool isFreeElse = false) {
    LockOperation operation = *lockOperationOf(atomic);
    if (operation.expected) free = operation.expected;
    now.try_emplace(&atomic, LockValues{free, operation.stored, nullptr, isFreeElse});
  }

  void note(const Instruction& atomic, LockValues values) {
    auto [entry, isNew] = result.values.try_emplace(&atomic, values);
    entry->second.isFreeElse = values.isFreeElse = entry->second.isFreeElse || values.isFreeElse;
    if (!isNew && entry->second != values) result.ambiguous.insert(&atomic);
    result.all.insert(&atomic);
  }

  const LoopInfo& loops;
  unsigned questionsLeft = 0;
  bool isWhole = true; ///< that a lock is taken is all that the condition asks
  TakenLocks result;
};

} // namespace

LockOperation takingOf(TakenLock taken) {
  if (auto operation = lockOperationOf(*taken)) return *operation;
  return {lookedAt(*taken), {}, 0, operationReach(*taken)};
}

TakenLocks takenLocks(const std::vector<const BasicBlock*>& blocks, const LoopInfo& loops) {
  return Finder(loops).find(blocks);
}

} // namespace kcheck::analyzer
