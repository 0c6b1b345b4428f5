#include "analyzer/model/warp_values.h"

#include "analyzer/model/kernel_state.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr std::int64_t kLanes = 32;

/// The source lane of a shuffle in which all lanes take part and read one of the warp's 32.
std::optional<std::int64_t> sourceLane(const CallInst& call) {
  auto* intrinsic = dyn_cast<IntrinsicInst>(&call);
  if (!intrinsic || intrinsic->getIntrinsicID() != Intrinsic::nvvm_shfl_sync_idx_i32) return {};
  auto* mask = dyn_cast<ConstantInt>(call.getArgOperand(0));
  auto* lane = dyn_cast<ConstantInt>(call.getArgOperand(2));
  auto* clamp = dyn_cast<ConstantInt>(call.getArgOperand(3));
  if (!mask || !mask->isMinusOne() || !lane || !clamp || clamp->getZExtValue() != kLanes - 1) return {};
  if (lane->getZExtValue() >= std::uint64_t(kLanes)) return {};
  return std::int64_t(lane->getZExtValue());
}

/// Lanes follow each other along the first axis.
bool isWarpInOneRow(const KernelModel& model) {
  if (isConst(model.threadIdx[1]) && isConst(model.threadIdx[2])) return true;
  Expr width = model.blockDim[0];
  return isConst(width) && width->value > 0 && width->value % kLanes == 0;
}

/// Whether the threads of a warp come here together, once in each round.
bool isMetTogether(KernelState& state, const CallInst& call) {
  for (const Loop* loop = state.loopInfo.getLoopFor(call.getParent()); loop; loop = loop->getParentLoop())
    if (!state.barrierLoops.count(loop)) return false;
  return true;
}

/// Whether e hangs on more of the thread than its index.
bool hangsOnMore(Expr e) {
  return anyNode(e, [](Expr n) {
    if (n->op == Op::Symbol)
      return n->symbol->kind != SymbolKind::ThreadIdx && n->symbol->varies == Varies::ByThread;
    return n->op == Op::Apply && n->function->varies == Varies::ByThread;
  });
}

} // namespace

Expr laneBroadcast(KernelState& state, const CallInst& call, Expr value, Expr condition) {
  const auto lane = sourceLane(call);
  Expr own = state.model.threadIdx[0];
  if (!lane || isConst(own) || !isWarpInOneRow(state.model) || !isMetTogether(state, call)) return nullptr;
  if (hangsOnMore(value) || hangsOnMore(condition)) return nullptr;
  ExprContext& exprs = state.exprs;
  Expr first = exprs.binary(Op::And, own, exprs.constant(32, -kLanes));
  Substitution other(exprs);
  other.set(own, exprs.binary(Op::Or, first, exprs.constant(32, *lane)));
  // The lane must come here wherever this thread does.
  const std::vector<Expr> here = conjunctsOf(condition);
  for (Expr part : conjunctsOf(other(condition)))
    if (!isTrue(part) && std::find(here.begin(), here.end(), part) == here.end()) return nullptr;
  return other(value);
}

} // namespace kcheck::analyzer
