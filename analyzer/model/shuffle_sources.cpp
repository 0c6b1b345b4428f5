// Whether the lanes that shuffles read from take part: they are named, and the block has them.
#include "analyzer/model/barrier_controls.h"
#include "analyzer/model/execution.h"
#include "analyzer/model/warp_values.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr std::int64_t kLanes = 32;

class ShuffleSources {
public:
  explicit ShuffleSources(KernelState& state) : state(state), exprs(state.exprs) {}

  void add(const Execution::Shuffle& shuffle) {
    const LaneRead read = laneRead(state, *shuffle.call, shuffle.lane);
    const Expr strays =
        exprs.logicalOr(isUnnamed(*shuffle.call, shuffle.mask, read), isBeyondBlock(*shuffle.call, read));
    if (!isFalse(strays))
      state.model.strays.push_back(
          {locationOf(*shuffle.call), state.withDefinitions(exprs.logicalAnd(shuffle.comes, strays), {})});
  }

private:
  /// Width 1: the mask leaves out the lane that is read, or may. Which lanes happen to vote or to come
  /// together is nothing that is looked at, but for the first of them, unless the program names the lane
  /// itself.
  Expr isUnnamed(const CallInst& shuffle, Expr mask, const LaneRead& read) {
    const Expr none = exprs.boolean(false);
    if (isConst(mask, -1) || readsFromAbove(shuffle)) return none;
    const auto leads = read.lane ? state.firstVoters.find(read.lane) : state.firstVoters.end();
    if (leads != state.firstVoters.end() && leads->second == mask) return none;
    const bool isKnown = isOfIndices(mask);
    if (read.lane && (isKnown || isOfIndices(read.lane)))
      return exprs.eq(exprs.binary(Op::And, exprs.binary(Op::LShr, mask, read.lane), exprs.constant(32, 1)),
                      exprs.constant(32, 0));
    if (!isKnown) return none;
    if (!read.segment) return exprs.boolean(true);
    return exprs.logicalNot(exprs.eq(exprs.binary(Op::And, mask, read.segment), read.segment));
  }

  /// Sums of some lanes: what the last of them get from above is not what they are for.
  static bool readsFromAbove(const CallInst& shuffle) {
    const auto id = cast<IntrinsicInst>(shuffle).getIntrinsicID();
    return id == Intrinsic::nvvm_shfl_sync_down_i32 || id == Intrinsic::nvvm_shfl_sync_down_f32;
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
  ExprContext& exprs;
};

} // namespace

void addShuffleSources(KernelState& state, const Execution& run) {
  ShuffleSources sources(state);
  for (const Execution::Shuffle& shuffle : run.shuffles) sources.add(shuffle);
}

} // namespace kcheck::analyzer
