#include "analyzer/model/made_barriers/protocol.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// `left` and `right` compare so.
struct Fact {
  CmpInst::Predicate predicate;
  const Value *left, *right;
};

/// What surely holds where the condition has come out so.
void collect(const Value* condition, bool isTaken, std::vector<Fact>& facts) {
  using namespace PatternMatch;
  const Value *a = nullptr, *b = nullptr;
  if (match(condition, m_Not(m_Value(a)))) return collect(a, !isTaken, facts);
  if (match(condition, m_Freeze(m_Value(a)))) return collect(a, isTaken, facts);
  if (isTaken ? match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
              : match(condition, m_LogicalOr(m_Value(a), m_Value(b)))) {
    collect(a, isTaken, facts);
    return collect(b, isTaken, facts);
  }
  auto* compare = dyn_cast<ICmpInst>(condition);
  if (!compare) return;
  const auto predicate = isTaken ? compare->getPredicate() : compare->getInversePredicate();
  const Value* inner = nullptr;
  if (compare->isEquality() && match(compare->getOperand(1), m_Zero()) &&
      match(compare->getOperand(0), m_ZExt(m_Value(inner))) && inner->getType()->isIntegerTy(1))
    return collect(inner, predicate == CmpInst::ICMP_NE, facts);
  facts.push_back({predicate, compare->getOperand(0), compare->getOperand(1)});
}

/// That `atom` is equal to `than`, no less, greater, or another number.
struct Bound {
  enum class Kind : std::uint8_t { Equal, AtLeast, Above, Other } kind;
  Sum than;
};

class Reader {
public:
  Reader(KernelState& state, Sums& sums, const Meeting& meeting)
      : state(state), sums(sums), m(meeting), last(sums.blocks().plus(Sum(-1))) {
    protocol.meeting = &meeting;
  }

  std::optional<Protocol> read() {
    const bool isFenced = m.passes(*m.from->getFirstNonPHIOrDbg(), m.arrival, isDeviceFence) ||
                          releaseReach(*m.arrival) >= kDeviceReach;
    if (!isFenced && !allFence()) return {};
    const bool holds = m.sets.empty() ? readCounted() : readReleased();
    // Where the fences before are those of other threads, all of them must be of one order.
    if (!holds || (!isFenced && !areInOneOrder())) return {};
    return protocol;
  }

private:
  bool isCounting(const Instruction& look) const {
    return m.places.at(&look) == m.counter && state.dominators.dominates(m.arrival, &look);
  }

  /// Behind the arrival, and not into another round of a loop that waits.
  bool leadsOn(const BranchWay& way) const {
    const Loop* loop = state.loopInfo.getLoopFor(way.branch->getParent());
    return state.dominators.dominates(m.arrival, way.branch) &&
           (loop == state.loopInfo.getLoopFor(m.from) || !loop->contains(way.target()));
  }

  /// Whether each thread has fenced since it last accessed memory when it comes to the first barrier.
  bool allFence() const {
    std::vector<const BasicBlock*> todo{m.from};
    std::set<const BasicBlock*> seen;
    while (!todo.empty()) {
      const BasicBlock* block = todo.back();
      todo.pop_back();
      const Instruction* at =
          block == m.from && seen.empty() ? m.from->getFirstNonPHIOrDbg()->getPrevNode() : &block->back();
      if (!seen.insert(block).second) continue;
      if (pred_empty(block)) return false;
      bool hasFence = false;
      for (; at && !hasFence; at = at->getPrevNode()) {
        hasFence = isDeviceFence(*at) && isInOneOrder(*at);
        if (!hasFence && at->mayReadOrWriteMemory() && !isAssumeLike(*at)) return false;
      }
      if (!hasFence) todo.insert(todo.end(), pred_begin(block), pred_end(block));
    }
    return true;
  }

  static bool isAssumeLike(const Instruction& instruction) {
    auto* call = dyn_cast<IntrinsicInst>(&instruction);
    return call && call->isAssumeLikeIntrinsic();
  }

  bool areInOneOrder() const {
    return std::all_of(m.blocks.begin(), m.blocks.end(), [](const BasicBlock* block) {
      return std::all_of(block->begin(), block->end(),
                         [](const Instruction& i) { return !fenceReach(i) || isInOneOrder(i); });
    });
  }

  /// What the way says of `atom`.
  std::vector<Bound> boundsOf(const BranchWay& way, const Instruction& atom) const {
    std::vector<Fact> facts;
    collect(way.branch->getCondition(), way.way == 0, facts);
    std::vector<Bound> bounds;
    for (const Fact& fact : facts) {
      if (!fact.left->getType()->isIntegerTy()) continue;
      const Sum difference = sums.of(fact.left).plus(sums.of(fact.right), -1);
      const auto found = difference.terms.find({&atom});
      if (found == difference.terms.end() || (found->second != 1 && found->second != -1)) continue;
      // Both sides of the comparison by themselves, so that `a - b > 0` is none of these.
      const bool isLeft = found->second == 1;
      Sum rest = difference.plus(Sum::of(&atom), -found->second);
      if (isLeft) rest = Sum().plus(rest, -1);
      if (mentions(rest, atom)) continue;
      const auto predicate = isLeft ? fact.predicate : CmpInst::getSwappedPredicate(fact.predicate);
      const Sum beside = sums.of(isLeft ? fact.left : fact.right).plus(Sum::of(&atom), -1);
      const bool isPlain = beside.isConstant() && beside.constant() >= 0; // else it may run below zero
      using Kind = Bound::Kind;
      switch (predicate) {
      case CmpInst::ICMP_EQ: bounds.push_back({Kind::Equal, rest}); break;
      case CmpInst::ICMP_NE: bounds.push_back({Kind::Other, rest}); break;
      case CmpInst::ICMP_UGE:
      case CmpInst::ICMP_SGE:
        if (isPlain) bounds.push_back({Kind::AtLeast, rest});
        break;
      case CmpInst::ICMP_UGT:
      case CmpInst::ICMP_SGT:
        if (isPlain) bounds.push_back({Kind::Above, rest});
        break;
      default: break;
      }
    }
    return bounds;
  }

  static bool mentions(const Sum& sum, const Instruction& atom) {
    return std::any_of(sum.terms.begin(), sum.terms.end(), [&](const auto& term) {
      return std::find(term.first.begin(), term.first.end(), &atom) != term.first.end();
    });
  }

  /// Whether one who goes that way has a fence behind what he has seen.
  bool isAcquired(const BranchWay& way, const Instruction& look) const {
    return acquireReach(look) >= kDeviceReach || m.passes(way, nullptr, isDeviceFence);
  }

  bool takeGoal(const Sum& goal, bool isEqual, const BranchWay& way) {
    if (protocol.goal && !(*protocol.goal == goal)) return false;
    if (!protocol.goal) protocol.isEqual = isEqual;
    protocol.isEqual = protocol.isEqual || isEqual;
    protocol.goal = goal;
    protocol.goalUsed = way.branch->getParent();
    return true;
  }

  // A counter that only grows.

  /// `ticket / blocks * blocks + blocks`, or `ticket - ticket % blocks + blocks`: what the counter is when
  /// all have come who come with this ticket.
  bool isGoalOfTicket(const Sum& goal) const {
    const Sum rest = goal.plus(sums.blocks(), -1);
    for (const auto& [product, count] : rest.terms)
      for (SumAtom atom : product) {
        if (!sums.isValue(atom)) continue;
        auto* division = dyn_cast<BinaryOperator>(static_cast<const Value*>(atom));
        if (!division || !(sums.of(division->getOperand(1)) == sums.blocks()) ||
            !(sums.of(division->getOperand(0)) == Sum::of(m.arrival)))
          continue;
        const auto op = division->getOpcode();
        if (op == Instruction::UDiv || op == Instruction::SDiv) {
          if (rest == Sum::of(atom).times(sums.blocks())) return true;
        } else if (op == Instruction::URem || op == Instruction::SRem) {
          if (rest == Sum::of(m.arrival).plus(Sum::of(atom), -1)) return true;
        }
      }
    return false;
  }

  /// Whether the way says that what was found is a multiple of the number of blocks. As one's own block is
  /// counted, it is the next one.
  bool isFull(const BranchWay& way, const Instruction& look) const {
    std::vector<Fact> facts;
    collect(way.branch->getCondition(), way.way == 0, facts);
    return std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) {
      auto* rest = dyn_cast<BinaryOperator>(fact.left);
      return fact.predicate == CmpInst::ICMP_EQ && rest && sums.of(fact.right).isZero() &&
             (rest->getOpcode() == Instruction::URem || rest->getOpcode() == Instruction::SRem) &&
             sums.of(rest->getOperand(0)) == Sum::of(&look) && sums.of(rest->getOperand(1)) == sums.blocks();
    });
  }

  bool readCounted() {
    if (!isa<AtomicRMWInst>(m.arrival)) return false;
    std::vector<BranchWay> through;
    for (const BranchWay& way : m.ways()) {
      if (!leadsOn(way)) continue;
      for (const Instruction* look : m.looks)
        if (isCounting(*look) && saysAll(way, *look, 0)) through.push_back(way);
      if (saysAll(way, *m.arrival, 1)) through.push_back(way);
    }
    return !through.empty() && !m.goesRound(through);
  }

  /// Of what was found `more` short of the counter.
  bool saysAll(const BranchWay& way, const Instruction& found, std::int64_t more) {
    if (more == 0 && isFull(way, found)) return isAcquired(way, found);
    for (const Bound& bound : boundsOf(way, found)) {
      if (bound.kind == Bound::Kind::Other) continue;
      const Sum goal = bound.than.plus(Sum(more + (bound.kind == Bound::Kind::Above ? 1 : 0)));
      if (goal.isConstant() && goal.constant() <= 0) continue;
      if (!isAcquired(way, found)) return false;
      if (isGoalOfTicket(goal)) return true;
      return takeGoal(goal, false, way);
    }
    return false;
  }

  // A counter that the last one sets back, and a word for the others.

  bool readReleased() {
    const Instruction *back = nullptr, *release = nullptr;
    for (const Instruction* set : m.sets) {
      const bool isCounter = m.places.at(set) == m.counter;
      if (!isCounter && m.places.at(set).meets(m.counter)) return false;
      const Instruction*& known = isCounter ? back : release;
      if (known) return false;
      known = set;
    }
    if (!release) return false;
    protocol.released = m.places.at(release);
    const bool wraps = isa<IntrinsicInst>(m.arrival);
    if (wraps ? back || !(sums.of(m.arrival->getOperand(1)) == last) : !back || !setsTo(*back, Sum()))
      return false;
    std::vector<BranchWay> through;
    bool hasLast = false;
    for (const BranchWay& way : m.ways()) {
      if (!leadsOn(way)) continue;
      if (isOfLast(way)) {
        if (hasLast || !lastReleases(way, back, *release)) return false;
        hasLast = true;
        through.push_back(way);
        continue;
      }
      for (const Instruction* look : m.looks)
        if (m.places.at(look) == *protocol.released && state.dominators.dominates(m.arrival, look) &&
            isReleased(way, *look, *release))
          through.push_back(way);
    }
    return hasLast && !m.goesRound(through) && releasesWell(*release);
  }

  bool isOfLast(const BranchWay& way) const {
    const auto bounds = boundsOf(way, *m.arrival);
    return std::any_of(bounds.begin(), bounds.end(), [&](const Bound& bound) {
      return bound.kind == Bound::Kind::Equal && bound.than == last;
    });
  }

  /// The last one comes to both behind what it has found, to the release last, with fences between.
  bool lastReleases(const BranchWay& way, const Instruction* back, const Instruction& release) const {
    const BasicBlockEdge edge(way.branch->getParent(), way.target());
    const auto is = [](const Instruction* wanted) {
      return [wanted](const Instruction& at) { return &at == wanted; };
    };
    if (!state.dominators.dominates(edge, release.getParent()) || !m.passes(way, nullptr, is(&release)))
      return false;
    const bool acquires = acquireReach(*m.arrival) >= kDeviceReach,
               releases = releaseReach(release) >= kDeviceReach;
    if (!acquires && !m.passes(way, &release, isDeviceFence)) return false;
    if (acquires && !releases && !m.passes(*m.arrival, &release, isDeviceFence)) return false;
    if (!acquires && !m.passes(way, nullptr, isDeviceFence)) return false;
    if (!back) return true;
    return state.dominators.dominates(edge, back->getParent()) &&
           state.dominators.dominates(back, &release) &&
           (releases || m.passes(*back, &release, isDeviceFence));
  }

  /// The number that is stored, if it is.
  const Value* storedBy(const Instruction& set) const {
    if (auto* store = dyn_cast<StoreInst>(&set)) return store->getValueOperand();
    auto* update = dyn_cast<AtomicRMWInst>(&set);
    return update && update->getOperation() == AtomicRMWInst::Xchg ? update->getValOperand() : nullptr;
  }

  bool setsTo(const Instruction& set, const Sum& number) const {
    const Value* stored = storedBy(set);
    return stored && sums.of(stored) == number && sums.of(stored).inverted.empty();
  }

  bool isLoadBefore(SumAtom atom) const {
    const auto found = std::find(m.looks.begin(), m.looks.end(), atom);
    return found != m.looks.end() && m.places.at(*found) == *protocol.released &&
           state.dominators.dominates(*found, m.arrival) &&
           state.loopInfo.getLoopFor((*found)->getParent()) == state.loopInfo.getLoopFor(m.from);
  }

  /// Whether the way says that the second word has been set for this meeting.
  bool isReleased(const BranchWay& way, const Instruction& look, const Instruction& release) {
    for (const Bound& bound : boundsOf(way, look)) {
      const SumAtom before = bound.than.onlyAtom();
      if (bound.kind == Bound::Kind::Other && before && bound.than == Sum::of(before) &&
          isLoadBefore(before) && changes(release))
        return isAcquired(way, look);
      if (bound.kind == Bound::Kind::Other || !isAcquired(way, look)) continue;
      const Sum goal = bound.than.plus(Sum(bound.kind == Bound::Kind::Above ? 1 : 0));
      return takeGoal(goal, bound.kind == Bound::Kind::Equal, way);
    }
    return false;
  }

  /// Whether the release leaves another number than was there before.
  bool changes(const Instruction& release) const {
    if (auto* update = dyn_cast<AtomicRMWInst>(&release)) {
      auto* number = dyn_cast<ConstantInt>(update->getValOperand());
      const auto op = update->getOperation();
      if (op == AtomicRMWInst::Add || op == AtomicRMWInst::Sub || op == AtomicRMWInst::Xor)
        return number && !number->isZero();
    }
    const Value* stored = storedBy(release);
    if (!stored || sums.of(stored).terms.empty()) return false;
    const Sum number = sums.of(stored);
    for (const Instruction* look : m.looks) {
      if (!isLoadBefore(look)) continue;
      const Sum difference = number.plus(Sum::of(look), -1);
      const bool isOther = difference.isConstant() && !difference.isZero() && number.inverted.empty();
      if (isOther || number == Sum(1).plus(Sum::of(look), -1)) return true;
    }
    return false;
  }

  bool releasesWell(const Instruction& release) {
    // Who polls must see it whole, in other blocks.
    auto* store = dyn_cast<StoreInst>(&release);
    if (store && !store->isVolatile() && !store->isAtomic()) return false;
    if (!protocol.goal) return true;
    auto* update = dyn_cast<AtomicRMWInst>(&release);
    auto* number = update ? dyn_cast<ConstantInt>(update->getValOperand()) : nullptr;
    protocol.addsOne = update && update->getOperation() == AtomicRMWInst::Add && number && number->isOne();
    const Value* stored = storedBy(release);
    protocol.setsToGoal = stored && sums.of(stored) == *protocol.goal;
    return protocol.addsOne || protocol.setsToGoal;
  }

  KernelState& state;
  Sums& sums;
  const Meeting& m;
  const Sum last;
  Protocol protocol;
};

} // namespace

std::optional<Protocol> protocolOf(KernelState& state, Sums& sums, const Meeting& meeting) {
  return Reader(state, sums, meeting).read();
}

} // namespace kcheck::analyzer
