// Whether the lanes that shuffles read from take part: they are named, and the block has them.
#include "analyzer/model/barrier_controls.h"
#include "analyzer/model/execution.h"
#include "analyzer/model/warp_values.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

#include <set>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr std::int64_t kLanes = 32;

class ShuffleSources {
public:
  ShuffleSources(KernelState& state, const Execution& run)
      : state(state), execution(const_cast<Execution&>(run)), exprs(state.exprs) {}

  void add(const Execution::Shuffle& shuffle) {
    const LaneRead read = laneRead(state, *shuffle.call, shuffle.lane);
    const Expr strays =
        exprs.logicalOr(isUnnamed(*shuffle.call, shuffle.mask, read), isBeyondBlock(*shuffle.call, read));
    if (!isFalse(strays))
      state.model.strays.push_back(
          {locationOf(*shuffle.call), state.withDefinitions(exprs.logicalAnd(shuffle.comes, strays), {})});
  }

private:
  /// Width 1: the mask leaves out the lane that is read, or may. Of lanes that happen to vote or to come
  /// together it is known of one of them, as the bits of the mask tell.
  Expr isUnnamed(const CallInst& shuffle, Expr mask, const LaneRead& read) {
    const Expr none = exprs.boolean(false);
    if (isConst(mask, -1) || addsFromAbove(shuffle, mask)) return none;
    const auto leads = read.lane ? state.firstVoters.find(read.lane) : state.firstVoters.end();
    if (leads != state.firstVoters.end() && leads->second == mask) return none;
    const bool isKnown = isOfIndices(mask);
    if (read.lane && (isKnown || isOfIndices(read.lane)))
      return exprs.eq(exprs.binary(Op::And, exprs.binary(Op::LShr, mask, read.lane), exprs.constant(32, 1)),
                      exprs.constant(32, 0));
    const Value* lanes = namesLane(shuffle, read) ? chosenFrom(*shuffle.getArgOperand(2)) : nullptr;
    if (lanes && isWithin(lanes, shuffle)) {
      const Value* whole = shuffle.getArgOperand(0); // the caller is one of those
      return lanes == whole ? none : exprs.eq(execution.value(lanes), exprs.constant(32, 0));
    }
    if (!isKnown || !read.segment) return exprs.boolean(true);
    return exprs.logicalNot(exprs.eq(exprs.binary(Op::And, mask, read.segment), read.segment));
  }

  /// The number that the shuffle is given is that of the lane in its warp.
  static bool namesLane(const CallInst& shuffle, const LaneRead& read) {
    const auto id = cast<IntrinsicInst>(shuffle).getIntrinsicID();
    const bool isLane = id == Intrinsic::nvvm_shfl_sync_idx_i32 || id == Intrinsic::nvvm_shfl_sync_idx_f32;
    return isLane && read.segment && isConst(read.segment, -1);
  }

  /// The lanes of which `lane` is the first or the last one; null where it is no such number.
  static const Value* chosenFrom(const Value& lane) {
    using namespace PatternMatch;
    Value *count = nullptr, *lanes = nullptr;
    const auto isCall = [&](StringRef name) {
      auto* call = dyn_cast<CallInst>(count);
      const llvm::Function* called = call ? call->getCalledFunction() : nullptr;
      if (!called || called->getName() != name) return false;
      lanes = call->getArgOperand(0);
      return true;
    };
    if (match(&lane, m_Add(m_Value(count), m_AllOnes())) && isCall("__nv_ffs")) return lanes;
    const bool isLast = match(&lane, m_Sub(m_SpecificInt(kLanes - 1), m_Value(count))) ||
                        match(&lane, m_Xor(m_Value(count), m_SpecificInt(kLanes - 1)));
    if (isLast && (isCall("__nv_clz") || match(count, m_Intrinsic<Intrinsic::ctlz>(m_Value(lanes)))))
      return lanes;
    return match(&lane, m_Intrinsic<Intrinsic::cttz>(m_Value(lanes))) ? lanes : nullptr;
  }

  /// Whether all of the lanes are named in the shuffle's mask: they are made of that by leaving some out.
  static bool isWithin(const Value* lanes, const CallInst& shuffle, std::set<const Value*> seen = {}) {
    if (lanes == shuffle.getArgOperand(0) || !seen.insert(lanes).second) return true;
    const auto is = [&](const Value* some) { return isWithin(some, shuffle, seen); };
    if (auto* phi = dyn_cast<PHINode>(lanes)) return all_of(phi->incoming_values(), is);
    if (auto* choice = dyn_cast<SelectInst>(lanes))
      return is(choice->getTrueValue()) && is(choice->getFalseValue());
    if (auto* call = dyn_cast<CallInst>(lanes)) {
      const llvm::Function* called = call->getCalledFunction();
      return called && called->getName().starts_with("llvm.nvvm.match.any.sync") &&
             is(call->getArgOperand(0));
    }
    auto* both = dyn_cast<BinaryOperator>(lanes);
    return both && both->getOpcode() == Instruction::And && any_of(both->operands(), is);
  }

  /// Sums of lanes that are side by side: what the last of them get from above is not what they are for.
  bool addsFromAbove(const CallInst& shuffle, Expr mask) {
    const auto id = cast<IntrinsicInst>(shuffle).getIntrinsicID();
    if (id != Intrinsic::nvvm_shfl_sync_down_i32 && id != Intrinsic::nvvm_shfl_sync_down_f32) return false;
    if (isConst(mask)) return isShiftedMask_32(static_cast<std::uint32_t>(mask->value));
    const auto voters = votersOf(state, mask);
    return isOfIndices(voters ? voters->vote : mask);
  }

  /// Width 1: the last warp of the block has no such lane.
  Expr isBeyondBlock(const CallInst& shuffle, const LaneRead& read) {
    const auto id = cast<IntrinsicInst>(shuffle).getIntrinsicID();
    const bool isBefore = id == Intrinsic::nvvm_shfl_sync_up_i32 || id == Intrinsic::nvvm_shfl_sync_up_f32 ||
                          (read.lane && (isConst(read.lane, 0) || isFirstOfSegment(state, read.lane)));
    if (isBefore) return exprs.boolean(false);
    std::int64_t threads = 1;
    for (Expr extent : state.model.blockDim) threads *= isConst(extent) ? extent->value : 0; // 0: not known
    if (threads == 0) {
      state.model.takesWholeWarps = true;
      return exprs.boolean(false);
    }
    if (threads % kLanes == 0) return exprs.boolean(false);
    state.model.hasPartOfWarp = true;
    const Expr own = state.linearThread(), all = exprs.constant(32, threads);
    const Expr first = exprs.binary(Op::And, own, exprs.constant(32, -kLanes));
    // What is not followed may be any lane of the warp.
    const Expr last = exprs.binary(Op::Or, first, read.lane ? read.lane : exprs.constant(32, kLanes - 1));
    return exprs.binary(Op::Ule, all, last);
  }

  KernelState& state;
  Execution& execution;
  ExprContext& exprs;
};

} // namespace

void addShuffleSources(KernelState& state, const Execution& run) {
  ShuffleSources sources(state, run);
  for (const Execution::Shuffle& shuffle : run.shuffles) sources.add(shuffle);
}

} // namespace kcheck::analyzer
