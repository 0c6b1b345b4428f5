// What calls do: CUDA's special registers, atomics, warp operations, memory copies, the math library. What is
// not known here leaves a gap at its line.
#include "analyzer/model/execution.h"

#include "analyzer/model/bit_counts.h"
#include "analyzer/model/warp_values.h"
#include "report/assumptions.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <bit>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

Expr minimumOrMaximum(ExprContext& exprs, Expr a, Expr b, bool isSigned, bool minimum) {
  Expr less = exprs.binary(isSigned ? Op::Slt : Op::Ult, a, b);
  return minimum ? exprs.ite(less, a, b) : exprs.ite(less, b, a);
}

/// The upper half of the product.
Expr highProduct(ExprContext& exprs, Expr a, Expr b, bool isSigned) {
  if (a->width != 32) return nullptr;
  Op extend = isSigned ? Op::SExt : Op::ZExt;
  Expr product = exprs.mul(exprs.extend(extend, 64, a), exprs.extend(extend, 64, b),
                           isSigned ? NoSignedWrap : NoUnsignedWrap);
  return exprs.extend(Op::Trunc, 32, exprs.binary(Op::LShr, product, exprs.constant(64, 32)));
}

/// Whether the function, with all that it calls, touches nothing but its own locals: then only its result is
/// unknown when it is not followed.
bool touchesLocalsOnly(const llvm::Function& function, std::set<const llvm::Function*>& seen) {
  if (!seen.insert(&function).second) return true;
  if (function.isDeclaration()) return function.doesNotAccessMemory() || function.isIntrinsic();
  for (auto& block : function)
    for (auto& instruction : block) {
      if (const Value* pointer = getLoadStorePointerOperand(&instruction)) {
        if (!isa<AllocaInst>(getUnderlyingObject(pointer))) return false;
        continue;
      }
      if (auto* call = dyn_cast<CallInst>(&instruction)) {
        bool isMarker = isa<DbgInfoIntrinsic>(call) || isa<LifetimeIntrinsic>(call);
        if (isMarker) continue;
        if (!call->getCalledFunction() || barrierOf(*call).kind != BarrierKind::None) return false;
        if (!touchesLocalsOnly(*call->getCalledFunction(), seen)) return false;
        if (call->getCalledFunction()->isIntrinsic() && call->mayWriteToMemory()) return false;
        continue;
      }
      if (instruction.mayReadOrWriteMemory()) return false;
    }
  return true;
}

} // namespace

void Execution::noteUpdate(const Instruction& instruction, unsigned object, const Update& update) {
  if (recording && !state.knowsWritten) state.updatesSeen[object][update].insert(instruction.getParent());
}

/// What the operation leaves where it has found `found`. Null where that is not followed.
Expr Execution::leftBehind(const Instruction& instruction, Expr found, Expr& differs) {
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    Expr expected = value(exchange->getCompareOperand()), given = value(exchange->getNewValOperand());
    if (expected->width != found->width || given->width != found->width) return nullptr;
    // Who stores its own number may store what it expects; a value of the input hardly does: keys are no empty slots.
    if (isConst(given) || !isOfIndices(given)) differs = exprs.logicalNot(exprs.eq(expected, given));
    return exprs.ite(exprs.eq(found, expected), given, found);
  }
  if (auto* call = dyn_cast<IntrinsicInst>(&instruction);
      call && call->getIntrinsicID() == Intrinsic::nvvm_atomic_load_inc_32) {
    Expr isLast = exprs.binary(Op::Ule, value(call->getArgOperand(1)), found);
    return exprs.ite(isLast, exprs.constant(32, 0), exprs.add(found, exprs.constant(32, 1)));
  }
  auto* update = dyn_cast<AtomicRMWInst>(&instruction);
  if (!update || !update->getType()->isIntegerTy()) return nullptr;
  Expr operand = value(update->getValOperand());
  if (operand->width != found->width) return nullptr;
  switch (update->getOperation()) {
  case AtomicRMWInst::Xchg: return operand;
  case AtomicRMWInst::Add: return exprs.add(found, operand);
  case AtomicRMWInst::Sub: return exprs.sub(found, operand);
  case AtomicRMWInst::And: return exprs.binary(Op::And, found, operand);
  case AtomicRMWInst::Or: return exprs.binary(Op::Or, found, operand);
  case AtomicRMWInst::Xor: return exprs.binary(Op::Xor, found, operand);
  case AtomicRMWInst::Max: return minimumOrMaximum(exprs, found, operand, true, false);
  case AtomicRMWInst::Min: return minimumOrMaximum(exprs, found, operand, true, true);
  case AtomicRMWInst::UMax: return minimumOrMaximum(exprs, found, operand, false, false);
  case AtomicRMWInst::UMin: return minimumOrMaximum(exprs, found, operand, false, true);
  default: return nullptr;
  }
}

/// So that two threads can be looked at of which one comes right after the other. `symbol` is in what has
/// been found, or is it.
std::optional<AtomicUpdate> Execution::noteResult(const Instruction& instruction, Expr pointer, Expr found,
                                                  const Symbol* symbol) {
  const auto places = state.objects.places(pointer);
  if (places.size() != 1 || state.objects[places[0].object].isUnknown) return {};
  AtomicUpdate update{places[0].object, places[0].offset, found};
  update.left = leftBehind(instruction, found, update.differs);
  update.number = state.numberOf(instruction);
  if (!update.left) return {};
  state.model.updates[symbol] = update;
  return update;
}

void Execution::runAtomic(const Instruction& instruction, Expr pointer, unsigned bytes, AtomicScope scope,
                          const Update& update, Expr condition, Expr size) {
  for (const Place& place : state.objects.places(pointer)) noteUpdate(instruction, place.object, update);
  Expr given = update.kind == Update::Kind::Exchange ? exprs.constant(bytes * 8, update.value) : nullptr;
  record(instruction, AccessKind::Atomic, pointer, exprs.constant(64, bytes ? bytes : 1), condition, given,
         scope);
  if (!isRelevant(&instruction)) return;
  Expr number = update.isTicket() ? ticket(instruction, pointer, update, size)
                                  : claim(instruction, pointer, update, size);
  if (number) {
    env[&instruction] = number;
    if (update.isTicket())
      if (Expr total = counted(state.objects.places(pointer).front())) { // a ticket has one place
        Expr taken = update.kind == Update::Kind::Room ? exprs.add(number, size) : number;
        Expr within = exprs.binary(update.kind == Update::Kind::Room ? Op::Ule : Op::Ult, taken, total);
        state.drawnWithin[number] = exprs.logicalOr(exprs.logicalNot(condition), within);
      }
    return drawTicket(instruction);
  }
  std::string line = state.lineText(instruction);
  Symbol* symbol = local(instruction, "atomic", "atomic result (" + line + ")", bytes * 8);
  const bool isLock = state.takesLock(instruction, pointer);
  symbol->exact = false;
  symbol->cause = {isLock                         ? CauseKind::Lock
                   : isOnlyWaitedFor(instruction) ? CauseKind::Wait
                                                  : CauseKind::Order,
                   "the result of the atomic operation at " + line};
  state.synchronizing.insert(symbol);
  if (isLock) state.lockResults.insert(symbol);
  env[&instruction] = exprs.of(symbol);
  noteResult(instruction, pointer, env[&instruction], symbol);
  drawTicket(instruction);
}

bool Execution::runIntrinsic(const CallInst& call, Expr& condition) {
  auto* intrinsic = dyn_cast<IntrinsicInst>(&call);
  if (!intrinsic) return false;
  auto argument = [&](unsigned i) { return value(call.getArgOperand(i)); };
  bool wanted =
      isRelevant(&call) && call.getType()->isIntegerTy() && call.getType()->getIntegerBitWidth() <= 64;
  unsigned width = widthOf(call.getType(), state.layout);
  const KernelModel& m = state.model;
  auto id_ = intrinsic->getIntrinsicID();
  switch (id_) {
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
  case Intrinsic::trap:
  case Intrinsic::nvvm_exit: condition = exprs.boolean(false); return true;
  case Intrinsic::assume: {
    takeForTrue(call, argument(0), condition);
    return true;
  }
  case Intrinsic::memcpy:
  case Intrinsic::memcpy_inline:
  case Intrinsic::memmove: {
    auto& copy = cast<MemTransferInst>(call);
    Expr length = value(copy.getLength());
    if (length->width < 64) length = exprs.extend(Op::ZExt, 64, length);
    Expr nonEmpty = exprs.logicalAnd(condition, exprs.logicalNot(exprs.eq(length, exprs.constant(64, 0))));
    if (isa<llvm::Argument>(copy.getRawSource()) && cast<llvm::Argument>(copy.getRawSource())->hasByValAttr())
      return true;
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
    return true;
  }
  case Intrinsic::memset:
  case Intrinsic::memset_inline: {
    Expr length = value(cast<MemSetInst>(call).getLength());
    if (length->width < 64) length = exprs.extend(Op::ZExt, 64, length);
    Expr nonEmpty = exprs.logicalAnd(condition, exprs.logicalNot(exprs.eq(length, exprs.constant(64, 0))));
    record(call, AccessKind::Write, value(cast<MemSetInst>(call).getRawDest()), length, nonEmpty);
    return true;
  }
  case Intrinsic::smin:
  case Intrinsic::smax:
  case Intrinsic::umin:
  case Intrinsic::umax:
    if (!wanted) break;
    env[&call] =
        minimumOrMaximum(exprs, argument(0), argument(1), id_ == Intrinsic::smin || id_ == Intrinsic::smax,
                         id_ == Intrinsic::smin || id_ == Intrinsic::umin);
    return true;
  case Intrinsic::abs:
    if (!wanted) break;
    env[&call] = exprs.ite(exprs.binary(Op::Slt, argument(0), exprs.constant(width, 0)),
                           exprs.sub(exprs.constant(width, 0), argument(0)), argument(0));
    return true;
  case Intrinsic::expect:
  case Intrinsic::nvvm_ptr_gen_to_shared:
  case Intrinsic::nvvm_ptr_shared_to_gen:
  case Intrinsic::nvvm_ptr_gen_to_global:
  case Intrinsic::nvvm_ptr_global_to_gen:
  case Intrinsic::nvvm_ptr_gen_to_local:
  case Intrinsic::nvvm_ptr_local_to_gen:
  case Intrinsic::nvvm_ptr_gen_to_constant:
  case Intrinsic::nvvm_ptr_constant_to_gen: env[&call] = argument(0); return true;
  case Intrinsic::is_constant: env[&call] = exprs.boolean(false); return true;
  case Intrinsic::nvvm_read_ptx_sreg_tid_x: env[&call] = m.threadIdx[0]; return true;
  case Intrinsic::nvvm_read_ptx_sreg_tid_y: env[&call] = m.threadIdx[1]; return true;
  case Intrinsic::nvvm_read_ptx_sreg_tid_z: env[&call] = m.threadIdx[2]; return true;
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x: env[&call] = m.blockIdx[0]; return true;
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_y: env[&call] = m.blockIdx[1]; return true;
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_z: env[&call] = m.blockIdx[2]; return true;
  case Intrinsic::nvvm_read_ptx_sreg_ntid_x: env[&call] = m.blockDim[0]; return true;
  case Intrinsic::nvvm_read_ptx_sreg_ntid_y: env[&call] = m.blockDim[1]; return true;
  case Intrinsic::nvvm_read_ptx_sreg_ntid_z: env[&call] = m.blockDim[2]; return true;
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x: env[&call] = m.gridDim[0]; return true;
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_y: env[&call] = m.gridDim[1]; return true;
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_z: env[&call] = m.gridDim[2]; return true;
  case Intrinsic::nvvm_read_ptx_sreg_warpsize: env[&call] = exprs.constant(32, 32); return true;
  case Intrinsic::nvvm_read_ptx_sreg_laneid:
    env[&call] = exprs.binary(Op::And, state.linearThread(), exprs.constant(32, 31));
    return true;
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_lt: env[&call] = lanesBelow(state); return true;
  case Intrinsic::nvvm_isspacep_shared:
  case Intrinsic::nvvm_isspacep_global:
  case Intrinsic::nvvm_isspacep_local:
  case Intrinsic::nvvm_isspacep_const: {
    MemorySpace wantedSpace = id_ == Intrinsic::nvvm_isspacep_shared   ? MemorySpace::Shared
                              : id_ == Intrinsic::nvvm_isspacep_global ? MemorySpace::Global
                              : id_ == Intrinsic::nvvm_isspacep_local  ? MemorySpace::Local
                                                                       : MemorySpace::Constant;
    Expr answer = exprs.boolean(false);
    bool known = true;
    for (const Place& place : state.objects.places(argument(0))) {
      known = known && !state.objects[place.object].isUnknown;
      if (state.objects[place.object].space == wantedSpace) answer = exprs.logicalOr(answer, place.guard);
    }
    if (!known) break;
    env[&call] = answer;
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
    if (isRelevant(&call)) env[&call] = load(call, argument(0), false);
    return true;
  case Intrinsic::nvvm_atomic_load_inc_32:
  case Intrinsic::nvvm_atomic_load_dec_32:
    runAtomic(call, argument(0), 4, AtomicScope::Device,
              roundOf(argument(1), id_ == Intrinsic::nvvm_atomic_load_dec_32), condition);
    return true;
  default: break;
  }
  StringRef name = call.getCalledFunction()->getName();
  if (name.starts_with("llvm.nvvm.atomic.")) {
    Update update;
    if (name.contains(".add.gen.i")) update = additionOf(argument(1), condition);
    if (name.contains(".exch.gen.i") && isConst(argument(1)))
      update = {Update::Kind::Exchange, argument(1)->value};
    if (name.contains(".or.gen.i")) update = {Update::Kind::Mark};
    if (name.contains(".and.gen.i")) update = {Update::Kind::Clear};
    if (name.contains(".cas.gen.i")) update = claimOf(argument(1), argument(2), condition);
    runAtomic(call, argument(0), width / 8, scopeIn(name), update, condition, argument(1));
    return true;
  }
  if (barrierOf(call).kind != BarrierKind::None) return false; // runCall
  bool perThread = name.starts_with("llvm.nvvm.shfl") || name.starts_with("llvm.nvvm.vote") ||
                   name.starts_with("llvm.nvvm.match") || name.starts_with("llvm.nvvm.activemask") ||
                   name.starts_with("llvm.nvvm.redux") || name.starts_with("llvm.nvvm.read.ptx.sreg") ||
                   name.starts_with("llvm.stacksave");
  if (perThread) {
    if (!isRelevant(&call)) return true;
    env[&call] = warpResult(call, argument, condition);
    if (id_ == Intrinsic::nvvm_vote_ballot_sync) noteBallot(call);
    if (id_ == Intrinsic::nvvm_vote_any_sync || id_ == Intrinsic::nvvm_vote_all_sync) noteVote(call);
    if (id_ == Intrinsic::nvvm_activemask) noteActive(call, condition);
    if (id_ == Intrinsic::nvvm_match_any_sync_i32 || id_ == Intrinsic::nvvm_match_any_sync_i64)
      noteMatch(call, condition);
    return true;
  }
  if (call.doesNotAccessMemory() || call.onlyAccessesInaccessibleMemory()) {
    if (isRelevant(&call)) env[&call] = opaque(call, name.str());
    return true;
  }
  bool touches = false;
  for (auto& operand : call.args()) touches = touches || operand->getType()->isPointerTy();
  if (touches) state.gap(&call, "what `" + name.str() + "` reads and writes is not modelled");
  if (isRelevant(&call))
    env[&call] = fresh(&call, "call", "a result (" + state.lineText(call) + ")",
                       {{}, "the result of `" + name.str() + "`"});
  return true;
}

/// The condition of a `__builtin_assume`. Where a launch shows that it does not hold, nothing follows from
/// it.
void Execution::takeForTrue(const CallInst& call, Expr holds, Expr& condition) {
  if (isFalse(holds) && isTrue(condition)) {
    state.gap(&call, "the assumption does not hold for this launch", true, true, true);
    state.model.breaksAssumption = true;
    return;
  }
  assumed.push_back({condition, holds});
  condition = exprs.logicalAnd(condition, holds);
  if (!isTrue(holds)) state.assume(assumptionAt(locationOf(call).line));
}

/// The math library and the few functions of the CUDA headers that reach the module without a body.
bool Execution::runLibraryCall(const CallInst& call, StringRef name, Expr& condition) {
  auto argument = [&](unsigned i) { return value(call.getArgOperand(i)); };
  if (name == kAccessMarker) {
    bool write = cast<ConstantInt>(call.getArgOperand(2))->isOne();
    Expr bytes = argument(1);
    record(call, write ? AccessKind::Write : AccessKind::Read, argument(0), bytes,
           exprs.logicalAnd(condition, exprs.logicalNot(exprs.eq(bytes, exprs.constant(64, 0)))));
    return true;
  }
  if (name.starts_with("kcheck.") || name == "vprintf" || name == "free") return true;
  if (name == "__kcheck_assumption") { // what kcheck makes of __builtin_assume
    takeForTrue(call, argument(0), condition);
    return true;
  }
  if (name == "__kcheck_array") { // what an annotation says
    promiseArray(call, condition);
    return true;
  }
  if (name == "__assertfail") {
    state.assume("the assertion at " + state.lineText(call) + " holds");
    condition = exprs.boolean(false);
    return true;
  }
  if (name == "malloc") {
    state.gap(&call, "memory from malloc in a kernel is not followed");
    env[&call] = exprs.add(state.objects.pointerTo(state.objects.unknown()),
                           fresh(&call, "heap", "a heap address", {{}, "memory from malloc"}));
    return true;
  }
  if (name == "__nvvm_reflect") {
    env[&call] = exprs.constant(32, 0);
    return true;
  }
  if (!name.starts_with("__nv_")) return false;
  const unsigned bytesOfReal = name.ends_with("f") && name != "__nv_modf" ? 4 : 8;
  const bool isNorm = name.starts_with("__nv_norm") || name.starts_with("__nv_rnorm");
  const bool givesInteger = name.starts_with("__nv_frexp") || name.starts_with("__nv_remquo");
  for (auto& operand : call.args()) {
    if (!operand->getType()->isPointerTy()) continue;
    if (isNorm) { // of as many numbers as the first argument says
      Expr count = exprs.extend(Op::SExt, 64, argument(0)), none = exprs.constant(64, 0);
      record(call, AccessKind::Read, value(operand), exprs.mul(count, exprs.constant(64, bytesOfReal)),
             exprs.logicalAnd(condition, exprs.binary(Op::Slt, none, count)));
    } else { // sincos, frexp, modf and the like return through pointers
      record(call, AccessKind::Write, value(operand), exprs.constant(64, givesInteger ? 4 : bytesOfReal),
             condition);
    }
  }
  if (!isRelevant(&call)) return true;
  auto minMax = StringSwitch<int>(name)
                    .Cases("__nv_min", "__nv_llmin", 1)
                    .Cases("__nv_max", "__nv_llmax", 2)
                    .Cases("__nv_umin", "__nv_ullmin", 3)
                    .Cases("__nv_umax", "__nv_ullmax", 4)
                    .Default(0);
  Expr result = nullptr;
  if (minMax)
    result = minimumOrMaximum(exprs, argument(0), argument(1), minMax <= 2, minMax % 2 == 1);
  else if (name == "__nv_abs" || name == "__nv_llabs") {
    Expr a = argument(0), zero = exprs.constant(a->width, 0);
    result = exprs.ite(exprs.binary(Op::Slt, a, zero), exprs.sub(zero, a), a);
  } else if (name == "__nv_mulhi" || name == "__nv_umulhi") {
    result = highProduct(exprs, argument(0), argument(1), name == "__nv_mulhi");
  } else if (name == "__nv_brev" || name == "__nv_brevll") {
    result = reversedBits(exprs, argument(0));
  } else if (name.starts_with("__nv_clz")) {
    result = leadingZeros(exprs, argument(0));
  } else if (name.starts_with("__nv_popc") || name.starts_with("__nv_ffs")) {
    const bool isCount = name.starts_with("__nv_popc");
    if (name == "__nv_popc") result = countedLanes(call, condition);
    if (name == "__nv_ffs") result = firstVoter(call, condition);
    if (!result && isCount) result = countedBits(call, argument(0));
    if (!result && causesOf(argument(0)).empty()) result = firstSetBit(exprs, argument(0));
    if (!result)
      result = exprs.binary(Op::And, opaque(call, name.drop_front(5).str()), exprs.constant(32, 127));
  } else if (name == "__nv_umul24" || name == "__nv_mul24") {
    auto low = [&](Expr x) {
      if (name == "__nv_umul24") return exprs.binary(Op::And, x, exprs.constant(32, 0xffffff));
      Expr eight = exprs.constant(32, 8);
      return exprs.binary(Op::AShr, exprs.binary(Op::Shl, x, eight), eight);
    };
    result = exprs.mul(low(argument(0)), low(argument(1)));
  }
  env[&call] = result ? result : opaque(call, name.drop_front(5).str());
  return true;
}

void Execution::runCall(const CallInst& call, Expr& condition) {
  BarrierKind barrier = barrierOf(call).kind;
  std::string line = state.lineText(call);
  if (barrier != BarrierKind::None) {
    if (barrier == BarrierKind::Partial || (barrier == BarrierKind::Named && !state.hasGroups)) {
      // Sound without it; a race found across it leans on leaving it out.
      Symbol* ignored = local(call, "partial", "past the barrier (" + line + ")", 1);
      ignored->exact = false;
      ignored->cause = {CauseKind::Order, "the barrier at " + line + ", which may order threads"};
      condition = exprs.logicalAnd(condition, exprs.of(ignored));
      state.gap(&call, "whether all threads come that this barrier of some waits for is not followed", false,
                true, false);
    }
    if (call.getType()->isVoidTy() || !isRelevant(&call)) return;
    Cause voted{CauseKind::Approximation, "the result of the barrier at " + line};
    if (call.arg_size() > 0) // a vote about what atomics have found says what these do
      for (const Cause& cause : causesOf(value(call.getArgOperand(call.arg_size() - 1))))
        if (cause.kind == CauseKind::Order || cause.kind == CauseKind::Wait) voted.kind = CauseKind::Order;
    if (barrier == BarrierKind::Block && state.cut >= Cut::Block) {
      auto* vote = state.symbols.function(&call, "vote", "the block's vote (" + line + ")",
                                          widthOf(call.getType(), state.layout));
      vote->varies = Varies::ByBlock;
      vote->exact = false;
      vote->cause = voted;
      env[&call] = exprs.apply(vote, barrierCounters(call.getParent()));
    } else {
      env[&call] = fresh(&call, "vote", "a vote (" + line + ")", voted);
    }
    return;
  }
  if (runIntrinsic(call, condition)) return;
  if (isa<InlineAsm>(call.getCalledOperand())) {
    StringRef text = cast<InlineAsm>(call.getCalledOperand())->getAsmString();
    runAssembly(call, condition);
    if (text.trim().starts_with("trap") || text.trim().starts_with("exit")) condition = exprs.boolean(false);
    return;
  }
  const llvm::Function* callee = call.getCalledFunction();
  if (callee && runLibraryCall(call, callee->getName(), condition)) return;
  std::string name = callee ? demangle(callee->getName()) : "a function pointer";
  if (!callee)
    state.gap(&call, "a call through a pointer whose targets are not known", true, true);
  else if (std::set<const llvm::Function*> seen;
           !callee->isDeclaration() && !touchesLocalsOnly(*callee, seen))
    state.gap(&call, "the recursive function `" + name + "` is not followed", true, true);
  else if (callee->isDeclaration()) {
    bool touches = false;
    for (auto& operand : call.args()) touches = touches || operand->getType()->isPointerTy();
    if (touches && !call.onlyReadsMemory())
      state.gap(&call, "the function `" + name + "` has no body here");
    else
      state.assume("calls of `" + name + "` touch no memory of the kernel");
  }
  if (!isRelevant(&call)) return;
  Expr result =
      fresh(&call, "call", "a result (" + line + ")", {{}, "the result of `" + name + "` at " + line});
  bool isPointer = call.getType()->isPointerTy();
  env[&call] = isPointer ? exprs.add(state.objects.pointerTo(state.objects.unknown()), result) : result;
}

} // namespace kcheck::analyzer
