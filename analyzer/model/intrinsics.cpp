// What LLVM's intrinsics do: CUDA's special registers, copies of memory, warp operations. What is not known
// here leaves a gap at its line.
#include "analyzer/model/execution.h"

#include "analyzer/model/integer_functions.h"
#include "analyzer/model/warp_values.h"

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// Nothing of the model hangs on it; what fences order is for others to see (fences.cpp).
bool hasNoEffect(Intrinsic::ID intrinsic) {
  switch (intrinsic) {
  case Intrinsic::dbg_value:
  case Intrinsic::dbg_declare:
  case Intrinsic::dbg_label:
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::stackrestore:
  case Intrinsic::nvvm_membar_cta:
  case Intrinsic::nvvm_membar_gl:
  case Intrinsic::nvvm_membar_sys:
  case Intrinsic::donothing:
  case Intrinsic::prefetch: return true;
  default: return false;
  }
}

/// Each thread gets a result of its own, which others may decide about.
bool isPerThread(StringRef name) {
  return name.starts_with("llvm.nvvm.shfl") || name.starts_with("llvm.nvvm.vote") ||
         name.starts_with("llvm.nvvm.match") || name.starts_with("llvm.nvvm.activemask") ||
         name.starts_with("llvm.nvvm.redux") || name.starts_with("llvm.nvvm.read.ptx.sreg") ||
         name.starts_with("llvm.stacksave");
}

} // namespace

bool Execution::runIntrinsic(const CallInst& call, Expr& condition) {
  auto* intrinsic = dyn_cast<IntrinsicInst>(&call);
  if (!intrinsic) return false;
  if (hasNoEffect(intrinsic->getIntrinsicID()) || runMemoryIntrinsic(call, condition)) return true;
  switch (intrinsic->getIntrinsicID()) {
  case Intrinsic::trap:
  case Intrinsic::nvvm_exit: condition = exprs.boolean(false); return true;
  case Intrinsic::assume: takeForTrue(call, value(call.getArgOperand(0)), condition); return true;
  default: break;
  }
  if (Expr known = intrinsicValue(call)) {
    env[&call] = known;
    return true;
  }
  if (barrierOf(call).kind != BarrierKind::None) return false; // runCall
  if (isPerThread(call.getCalledFunction()->getName()))
    runPerThread(call, condition);
  else
    runUnknownIntrinsic(call, condition);
  return true;
}

/// Copies, special loads and the atomic operations that are intrinsics.
bool Execution::runMemoryIntrinsic(const CallInst& call, Expr condition) {
  auto argument = [&](unsigned i) { return value(call.getArgOperand(i)); };
  switch (call.getIntrinsicID()) {
  case Intrinsic::memcpy:
  case Intrinsic::memcpy_inline:
  case Intrinsic::memmove: runMemoryCopy(call, condition); return true;
  case Intrinsic::memset:
  case Intrinsic::memset_inline: {
    auto& set = cast<MemSetInst>(call);
    Expr length = asLength(set.getLength());
    Expr nonEmpty = whereNotEmpty(condition, length);
    record(call, AccessKind::Write, value(set.getRawDest()), length, nonEmpty);
    return true;
  }
  case Intrinsic::nvvm_ldg_global_i:
  case Intrinsic::nvvm_ldg_global_f:
  case Intrinsic::nvvm_ldg_global_p:
  case Intrinsic::nvvm_ldu_global_i:
  case Intrinsic::nvvm_ldu_global_f:
  case Intrinsic::nvvm_ldu_global_p:
    record(call, AccessKind::Read, argument(0),
           exprs.constant(64, std::int64_t(state.layout.getTypeStoreSize(call.getType()).getFixedValue())),
           condition);
    if (isRelevant(&call)) env[&call] = load(call, argument(0), condition, false);
    return true;
  default: return runAtomicIntrinsic(call, condition);
  }
}

/// A number of bytes, 64 bit.
Expr Execution::asLength(const Value* bytes) {
  Expr length = value(bytes);
  return length->width < 64 ? exprs.extend(Op::ZExt, 64, length) : length;
}

/// `bytes` is 64 bits wide.
Expr Execution::whereNotEmpty(Expr condition, Expr bytes) {
  return exprs.logicalAnd(condition, exprs.logicalNot(exprs.eq(bytes, exprs.constant(64, 0))));
}

void Execution::runMemoryCopy(const CallInst& call, Expr condition) {
  auto& copy = cast<MemTransferInst>(call);
  Expr length = asLength(copy.getLength());
  Expr nonEmpty = whereNotEmpty(condition, length);
  if (auto* source = dyn_cast<llvm::Argument>(copy.getRawSource()); source && source->hasByValAttr()) return;
  bool marked = call.getMetadata(kMarkedCopy) != nullptr;
  auto side = [&](const Value* pointer, AccessKind kind) {
    Expr p = value(pointer);
    auto places = state.objects.places(p);
    bool local = !places.empty() && state.objects[places[0].object].space == MemorySpace::Local;
    bool was = recording;
    recording = recording && (local || !marked);
    record(call, kind, p, length, nonEmpty);
    recording = was;
  };
  side(copy.getRawSource(), AccessKind::Read);
  side(copy.getRawDest(), AccessKind::Write);
}

/// What it gives where that is known and touches no memory; else null.
Expr Execution::intrinsicValue(const CallInst& call) {
  auto argument = [&](unsigned i) { return value(call.getArgOperand(i)); };
  const bool isWanted = isRelevant(&call) && isScalarInteger(call.getType());
  const auto intrinsic = call.getIntrinsicID();
  switch (intrinsic) {
  case Intrinsic::smin:
  case Intrinsic::smax:
  case Intrinsic::umin:
  case Intrinsic::umax:
    if (!isWanted) return nullptr;
    return minimumOrMaximum(exprs, argument(0), argument(1),
                            intrinsic == Intrinsic::smin || intrinsic == Intrinsic::smax,
                            intrinsic == Intrinsic::smin || intrinsic == Intrinsic::umin);
  case Intrinsic::abs: return isWanted ? absoluteValue(exprs, argument(0)) : nullptr;
  case Intrinsic::expect:
  case Intrinsic::nvvm_ptr_gen_to_shared:
  case Intrinsic::nvvm_ptr_shared_to_gen:
  case Intrinsic::nvvm_ptr_gen_to_global:
  case Intrinsic::nvvm_ptr_global_to_gen:
  case Intrinsic::nvvm_ptr_gen_to_local:
  case Intrinsic::nvvm_ptr_local_to_gen:
  case Intrinsic::nvvm_ptr_gen_to_constant:
  case Intrinsic::nvvm_ptr_constant_to_gen: return argument(0);
  case Intrinsic::is_constant: return exprs.boolean(false);
  case Intrinsic::nvvm_isspacep_shared: return isInSpace(argument(0), MemorySpace::Shared);
  case Intrinsic::nvvm_isspacep_global: return isInSpace(argument(0), MemorySpace::Global);
  case Intrinsic::nvvm_isspacep_local: return isInSpace(argument(0), MemorySpace::Local);
  case Intrinsic::nvvm_isspacep_const: return isInSpace(argument(0), MemorySpace::Constant);
  default: return specialRegister(intrinsic);
  }
}

/// Null where it is none that the model knows.
Expr Execution::specialRegister(unsigned intrinsic) {
  const KernelModel& m = state.model;
  switch (intrinsic) {
  case Intrinsic::nvvm_read_ptx_sreg_tid_x: return m.threadIdx[0];
  case Intrinsic::nvvm_read_ptx_sreg_tid_y: return m.threadIdx[1];
  case Intrinsic::nvvm_read_ptx_sreg_tid_z: return m.threadIdx[2];
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x: return m.blockIdx[0];
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_y: return m.blockIdx[1];
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_z: return m.blockIdx[2];
  case Intrinsic::nvvm_read_ptx_sreg_ntid_x: return m.blockDim[0];
  case Intrinsic::nvvm_read_ptx_sreg_ntid_y: return m.blockDim[1];
  case Intrinsic::nvvm_read_ptx_sreg_ntid_z: return m.blockDim[2];
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x: return m.gridDim[0];
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_y: return m.gridDim[1];
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_z: return m.gridDim[2];
  case Intrinsic::nvvm_read_ptx_sreg_warpsize: return exprs.constant(32, 32);
  case Intrinsic::nvvm_read_ptx_sreg_laneid: return lane();
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_lt: return lanesBelow(state, false);
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_le: return lanesBelow(state, true);
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_gt:
    return exprs.binary(Op::Xor, lanesBelow(state, true), exprs.constant(32, -1));
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_ge:
    return exprs.binary(Op::Xor, lanesBelow(state, false), exprs.constant(32, -1));
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_eq: return ownLane(state);
  default: return nullptr;
  }
}

/// Whether the pointer leads to that kind of memory; null where that is not known.
Expr Execution::isInSpace(Expr pointer, MemorySpace space) {
  Expr answer = exprs.boolean(false);
  bool known = true;
  for (const Place& place : state.objects.places(pointer)) {
    known = known && !state.objects[place.object].isUnknown;
    if (state.objects[place.object].space == space) answer = exprs.logicalOr(answer, place.guard);
  }
  return known ? answer : nullptr;
}

void Execution::runPerThread(const CallInst& call, Expr condition) {
  if (call.getCalledFunction()->getName().starts_with("llvm.nvvm.shfl.sync."))
    shuffles.push_back({&call, value(call.getArgOperand(0)), value(call.getArgOperand(2)), condition});
  if (!isRelevant(&call)) return;
  env[&call] = warpResult(call, [&](unsigned i) { return value(call.getArgOperand(i)); }, condition);
  switch (call.getIntrinsicID()) {
  case Intrinsic::nvvm_vote_ballot_sync: noteBallot(call); break;
  case Intrinsic::nvvm_vote_any_sync:
  case Intrinsic::nvvm_vote_all_sync: noteVote(call); break;
  case Intrinsic::nvvm_activemask: noteActive(call, condition); break;
  case Intrinsic::nvvm_match_any_sync_i32:
  case Intrinsic::nvvm_match_any_sync_i64: noteMatch(call, condition); break;
  case Intrinsic::nvvm_redux_sync_add:
  case Intrinsic::nvvm_redux_sync_and:
  case Intrinsic::nvvm_redux_sync_or:
  case Intrinsic::nvvm_redux_sync_xor:
  case Intrinsic::nvvm_redux_sync_max:
  case Intrinsic::nvvm_redux_sync_min:
  case Intrinsic::nvvm_redux_sync_umax:
  case Intrinsic::nvvm_redux_sync_umin: noteReduction(call); break;
  default: break;
  }
}

void Execution::runUnknownIntrinsic(const CallInst& call, Expr condition) {
  const std::string name = call.getCalledFunction()->getName().str();
  if (call.doesNotAccessMemory() || call.onlyAccessesInaccessibleMemory()) {
    if (isRelevant(&call)) env[&call] = opaque(call, name);
    return;
  }
  if (takesPointer(call) && !runTile(call, condition))
    state.gap(&call, "what `" + name + "` reads and writes is not modelled");
  if (isRelevant(&call))
    env[&call] =
        fresh(&call, "call", "a result (" + state.lineText(call) + ")", {{}, "the result of `" + name + "`"});
}

} // namespace kcheck::analyzer
