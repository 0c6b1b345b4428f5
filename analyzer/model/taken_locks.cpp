#include "analyzer/model/taken_locks.h"

#include "analyzer/model/sightings.h"

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
        std::set<TakenLock> now;
        isWhole = true;
        takenWhere(branch->getCondition(), way, now, 8);
        if (now.empty()) continue;
        if (isWhole) result.missedOnEdges[{block, branch->getSuccessor(way ? 1 : 0)}] = now;
        result.onEdges[{block, branch->getSuccessor(way ? 0 : 1)}] = std::move(now);
      }
    }
    return std::move(result);
  }

private:
  /// What is taken where `condition` is `way`.
  void takenWhere(const Value* condition, bool way, std::set<TakenLock>& now, unsigned depth) {
    if (depth == 0) return;
    if (auto* flip = dyn_cast<BinaryOperator>(condition)) {
      if (flip->getOpcode() == Instruction::Xor && constantOf(flip->getOperand(1)))
        return takenWhere(flip->getOperand(0), !way, now, depth - 1);
      isWhole = false;
      if (flip->getOpcode() == (way ? Instruction::And : Instruction::Or))
        for (const Value* part : flip->operands()) takenWhere(part, way, now, depth - 1);
      return;
    }
    if (auto* choice = dyn_cast<SelectInst>(condition)) { // a && b, a || b
      isWhole = false;
      auto other = constantOf(way ? choice->getFalseValue() : choice->getTrueValue());
      if (!other || (*other != 0) == way) return;
      takenWhere(choice->getCondition(), way, now, depth - 1);
      return takenWhere(way ? choice->getTrueValue() : choice->getFalseValue(), way, now, depth - 1);
    }
    if (auto* narrow = dyn_cast<TruncInst>(condition)) {
      auto* wide = dyn_cast<ZExtInst>(narrow->getOperand(0));
      if (wide && wide->getOperand(0)->getType()->isIntegerTy(1))
        takenWhere(wide->getOperand(0), way, now, depth - 1);
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
    const Value* found = compare->getOperand(0);
    if (auto* wide = dyn_cast<ZExtInst>(found); wide && wide->getOperand(0)->getType()->isIntegerTy(1)) {
      if (*given == 0 || *given == 1) takenWhere(wide->getOperand(0), (*given == 1) == equal, now, depth - 1);
      return;
    }
    if (equal && *given == 0 && takeBits(found, -1, now)) return;
    if (auto* bits = dyn_cast<BinaryOperator>(found); bits && bits->getOpcode() == Instruction::And) {
      const auto looked = constantOf(bits->getOperand(1));
      if (looked && equal && *given == 0) takeBits(bits->getOperand(0), *looked, now);
      return;
    }
    if (auto* part = dyn_cast<ExtractValueInst>(found); part && part->getIndices().front() == 0)
      found = part->getAggregateOperand();
    auto* atomic = dyn_cast<Instruction>(found);
    auto operation = atomic ? lockOperationOf(*atomic) : std::nullopt;
    if (!operation || operation->change != LockChange::Store) return;
    if (operation->expected) {
      if (given == (equal ? operation->expected : operation->stored)) take(*atomic, {}, now, !equal);
    } else if (equal ? *given != operation->stored : *given == operation->stored) {
      take(*atomic, equal ? given : std::nullopt, now);
    }
  }

  /// By atomicOr, which says that the bits which are looked at were not set: it has set some of them.
  bool takeBits(const Value* found, std::int64_t looked, std::set<TakenLock>& now) {
    auto* atomic = dyn_cast<Instruction>(found);
    const auto operation = atomic ? lockOperationOf(*atomic) : std::nullopt;
    if (!operation || operation->change != LockChange::Or || !(operation->stored & looked)) return false;
    isWhole = false; // other bits may be looked at too
    take(*atomic, 0, now);
    return true;
  }

  /// Where the number that is served is the one that the thread has drawn, or computed: who does not find it
  /// looks again.
  void takeTurn(const ICmpInst& compare, std::set<TakenLock>& now) {
    for (unsigned side : {0u, 1u}) {
      auto* look = dyn_cast<Instruction>(compare.getOperand(side));
      const Value* number = compare.getOperand(1 - side);
      auto* other = dyn_cast<Instruction>(number);
      const bool isDrawn = drawOf(number) != nullptr;
      if (look && lookedAt(*look) && loops.getLoopFor(look->getParent()) &&
          (isDrawn || !other || !lookedAt(*other)))
        note(*look, {{}, 0, number}, now);
    }
  }

  void take(const Instruction& atomic, std::optional<std::int64_t> free, std::set<TakenLock>& now,
            bool isFreeElse = false) {
    LockOperation operation = *lockOperationOf(atomic);
    if (operation.expected) free = operation.expected;
    note(atomic, {free, operation.stored, nullptr, isFreeElse}, now);
  }

  void note(const Instruction& atomic, LockValues values, std::set<TakenLock>& now) {
    auto [entry, isNew] = result.values.try_emplace(&atomic, values);
    entry->second.isFreeElse = values.isFreeElse = entry->second.isFreeElse || values.isFreeElse;
    if (!isNew && entry->second != values) result.ambiguous.insert(&atomic);
    now.insert(&atomic);
    result.all.insert(&atomic);
  }

  const LoopInfo& loops;
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
