#include "analyzer/model/barriers.h"

#include "analyzer/model/prepare/barrier_objects.h"
#include "analyzer/model/prepare/inline_ptx.h"
#include "ptx/statement.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

bool isConstant(const Value* value, std::int64_t expected) {
  auto* number = dyn_cast<ConstantInt>(value);
  return number && number->getSExtValue() == expected;
}

/// `1, 128` or `$0, $1`.
Barrier named(const CallInst& call, StringRef operands) {
  auto [name, count] = operands.split(',');
  auto given = [&](StringRef text) -> const Value* {
    unsigned operand = 0;
    text = text.trim();
    if (!text.consume_front("$") || text.getAsInteger(10, operand) || operand >= call.arg_size())
      return nullptr;
    return call.getArgOperand(operand);
  };
  auto numberIn = [&](StringRef text, std::int64_t& number) {
    if (!text.trim().getAsInteger(10, number)) return true;
    auto* constant = dyn_cast_or_null<ConstantInt>(given(text));
    if (constant) number = constant->getSExtValue();
    return constant != nullptr;
  };
  Barrier result{BarrierKind::Named};
  if (!numberIn(name, result.number)) result.name = given(name);
  const bool isKnown = result.name || numberIn(name, result.number);
  if (!isKnown || (!count.trim().empty() && !numberIn(count, result.threads))) return {BarrierKind::Partial};
  return result;
}

/// Of an intrinsic, with the number of threads as its second operand, or all.
Barrier named(const IntrinsicInst& call, bool hasThreads) {
  Barrier result{BarrierKind::Named};
  auto* number = dyn_cast<ConstantInt>(call.getArgOperand(0));
  if (number)
    result.number = number->getSExtValue();
  else
    result.name = call.getArgOperand(0);
  if (!hasThreads) return result;
  auto* threads = dyn_cast<ConstantInt>(call.getArgOperand(1));
  if (!threads) return {BarrierKind::Partial};
  result.threads = threads->getSExtValue();
  return result;
}

/// Barrier instructions of inline PTX: `bar.sync 0;`, `barrier.sync.aligned %0, %1;`, `bar.warp.sync -1;`.
/// Of one instruction that readInlinePtx has left; what does more than that is not understood.
Barrier ofAssembly(const CallInst& call, StringRef text) {
  if (!text.contains("bar")) return {};
  std::string failure;
  const auto statements = ptx::parse(text.str(), failure);
  if (!statements || statements->size() != 1 || statements->front().guard) return {};
  StringRef instruction = text.trim();
  bool sync = instruction.contains("bar.sync") || instruction.contains("barrier.sync") ||
              instruction.contains("barrier.cta.sync") || instruction.contains("bar.red") ||
              instruction.contains("barrier.red") || instruction.contains("barrier.cta.red");
  bool arrive = instruction.contains("bar.arrive") || instruction.contains("barrier.arrive") ||
                instruction.contains("barrier.cta.arrive");
  bool warp = instruction.contains("bar.warp.sync");
  if (arrive) return {BarrierKind::Partial};
  if (!sync && !warp) return {};
  const bool waits = instruction.contains("sync");
  auto [before, after] = instruction.split(warp                           ? "warp.sync"
                                           : instruction.contains("sync") ? "sync"
                                                                          : "red");
  StringRef operands = after.split(';').first;
  if (operands.starts_with(".aligned")) operands = operands.drop_front(8);
  operands = operands.trim();
  if (warp) {
    bool full = operands == "-1" || operands == "0xffffffff" || operands == "0xFFFFFFFF" ||
                (operands == "$0" && call.arg_size() == 1 && isConstant(call.getArgOperand(0), -1));
    return {full ? BarrierKind::Warp : BarrierKind::Partial};
  }
  bool zero =
      operands == "0" || (operands == "$0" && call.arg_size() >= 1 && isConstant(call.getArgOperand(0), 0));
  if (zero) return {BarrierKind::Block};
  return waits ? named(call, operands) : Barrier{BarrierKind::Partial};
}

/// `redux.sync.add.s32 %0, %1, MASK` in a statement of its own.
Together reductionOf(const CallInst& call, const ptx::Operand& mask) {
  Type* word = Type::getInt32Ty(call.getContext());
  if (mask.kind == ptx::Operand::Kind::Immediate)
    return {ConstantInt::get(word, std::uint32_t(mask.bits)), false, false, true};
  const auto* results = dyn_cast<StructType>(call.getType());
  const unsigned outputs = results ? results->getNumElements() : call.getType()->isVoidTy() ? 0 : 1;
  const bool isGiven = mask.kind == ptx::Operand::Kind::Placeholder && mask.number >= outputs &&
                       mask.number - outputs < call.arg_size();
  return {isGiven ? call.getArgOperand(mask.number - outputs) : nullptr, false, false, isGiven};
}

/// Of what readInlinePtx has left: matrix operations, and reductions.
std::optional<Together> togetherIn(const CallInst& call, StringRef text) {
  if (!text.contains(".sync") || !(text.contains("ma.") || text.contains("matrix") || text.contains("redux")))
    return {};
  std::string failure;
  const auto statements = ptx::parse(text.str(), failure);
  if (!statements) return {};
  for (const ptx::Statement& s : *statements) {
    if (!s.label.empty() || s.isDeclaration || !s.has("sync")) continue;
    const bool isAlone = statements->size() == 1 && !s.guard;
    if (is_contained({"mma", "wmma", "ldmatrix", "stmatrix", "movmatrix"}, s.opcode[0]))
      return Together{nullptr, true, true, !s.guard};
    if (s.opcode[0] != "redux" || s.operands.empty()) continue;
    return isAlone ? reductionOf(call, s.operands.back()) : Together{nullptr, false, false, false};
  }
  return {};
}

BarrierKind ofIntrinsic(const IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
  case Intrinsic::nvvm_barrier0:
  case Intrinsic::nvvm_barrier0_popc:
  case Intrinsic::nvvm_barrier0_and:
  case Intrinsic::nvvm_barrier0_or: return BarrierKind::Block;
  case Intrinsic::nvvm_barrier_n:
  case Intrinsic::nvvm_bar_sync:
  case Intrinsic::nvvm_barrier_sync:
    return isConstant(call.getArgOperand(0), 0) ? BarrierKind::Block : BarrierKind::Named;
  case Intrinsic::nvvm_barrier:
  case Intrinsic::nvvm_barrier_sync_cnt: return BarrierKind::Named;
  case Intrinsic::nvvm_barrier_cluster_arrive:
  case Intrinsic::nvvm_barrier_cluster_arrive_relaxed:
  case Intrinsic::nvvm_barrier_cluster_wait:
  case Intrinsic::nvvm_barrier_cluster_arrive_aligned:
  case Intrinsic::nvvm_barrier_cluster_arrive_relaxed_aligned:
  case Intrinsic::nvvm_barrier_cluster_wait_aligned: return BarrierKind::Partial;
  case Intrinsic::nvvm_bar_warp_sync:
    return isConstant(call.getArgOperand(0), -1) ? BarrierKind::Warp : BarrierKind::Lanes;
  default: return BarrierKind::None;
  }
}

} // namespace

std::optional<Together> lanesTogether(const Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  if (!call) return {};
  if (auto* assembly = dyn_cast<InlineAsm>(call->getCalledOperand()))
    return togetherIn(*call, assembly->getAsmString());
  if (!isa<IntrinsicInst>(call)) return {};
  StringRef name = call->getCalledFunction()->getName();
  if (!name.consume_front("llvm.nvvm.")) return {};
  if (name.starts_with("wmma.") || name.starts_with("mma.")) return Together{nullptr, true, true, true};
  // Reductions take (value, mask), but Clang 19's header, their only user, passes (mask, value).
  const bool waits = name.starts_with("shfl.sync.") || name.starts_with("match.") ||
                     name.starts_with("redux.sync.") ||
                     (name.starts_with("vote.") && name.ends_with(".sync"));
  if (!waits) return {};
  return Together{call->getArgOperand(0), name.starts_with("shfl."), false, true};
}

bool isGridBarrierFunction(const Function& function) {
  return function.getName().contains("cooperative_groups") && function.getName().contains("sync_grids");
}

Barrier barrierOf(const Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  if (!call) return {};
  if (call->hasMetadataOtherThanDebugLoc() && call->getMetadata(kMadeBarrier)) return {BarrierKind::Grid};
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(call)) {
    BarrierKind kind = ofIntrinsic(*intrinsic);
    if (kind == BarrierKind::Named)
      return named(*intrinsic, intrinsic->getIntrinsicID() == Intrinsic::nvvm_barrier ||
                                   intrinsic->getIntrinsicID() == Intrinsic::nvvm_barrier_sync_cnt);
    return {kind, kind == BarrierKind::Lanes ? intrinsic->getArgOperand(0) : nullptr};
  }
  if (auto* assembly = dyn_cast<InlineAsm>(call->getCalledOperand()))
    return ofAssembly(*call, assembly->getAsmString());
  auto* callee = call->getCalledFunction();
  if (callee && isGridBarrierFunction(*callee)) return {BarrierKind::Grid, nullptr};
  if (isOwnCall(*call) && callee->getName() != kInitObject) return {BarrierKind::Partial};
  return {};
}

bool isBlockBarrier(const Instruction& instruction) {
  const BarrierKind kind = barrierOf(instruction).kind;
  return kind == BarrierKind::Block || kind == BarrierKind::Grid;
}

bool beginsWithBarrier(const BasicBlock& block) { return isBlockBarrier(*block.getFirstNonPHIOrDbg()); }

bool ordersByPtx(const Function& kernel) {
  for (auto& block : kernel)
    for (auto& instruction : block) {
      if (instruction.getMetadata(kOrdersByPtx)) return true;
      auto* call = dyn_cast<CallInst>(&instruction);
      auto* assembly = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
      if (!assembly) continue;
      StringRef text = assembly->getAsmString();
      for (const char* word : {"fence.", ".acquire", ".release", ".acq_rel"})
        if (text.contains(word)) return true;
    }
  return false;
}

bool cuts(Cut cut, BarrierKind kind) {
  switch (kind) {
  case BarrierKind::Grid: return cut != Cut::None;
  case BarrierKind::Block: return cut >= Cut::Block;
  case BarrierKind::Named: return cut >= Cut::Named;
  case BarrierKind::Warp: return cut >= Cut::Warp;
  case BarrierKind::Lanes: return cut == Cut::Lanes;
  case BarrierKind::None:
  case BarrierKind::Partial: return false;
  }
  return false;
}

} // namespace kcheck::analyzer
