// What calls do: barriers, and by way of their own files intrinsics, inline PTX and library functions. A call
// that is not followed leaves a gap at its line.
#include "analyzer/model/execution.h"

#include "analyzer/model/prepare/barrier_objects.h"
#include "report/assumptions.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

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

/// The barriers of some threads that lead here with none of the block between: one that comes to them hands
/// on to its warp what it has waited for.
std::vector<const CallInst*> partialBefore(const KernelState& state, const CallInst& here) {
  std::vector<const CallInst*> result;
  SmallPtrSet<BasicBlock*, 8> passed;
  for (BasicBlock& block : const_cast<llvm::Function&>(state.function))
    if (beginsWithBarrier(block)) passed.insert(&block);
  for (const Instruction& instruction : instructions(state.function)) {
    const auto* call = dyn_cast<CallInst>(&instruction);
    const BarrierKind kind = call ? barrierOf(*call).kind : BarrierKind::None;
    if ((kind == BarrierKind::Partial || kind == BarrierKind::Named) &&
        isPotentiallyReachable(call, &here, &passed, &state.dominators, &state.loopInfo))
      result.push_back(call);
  }
  return result;
}

} // namespace

bool takesPointer(const CallInst& call) {
  return any_of(call.args(), [](const Use& operand) { return operand->getType()->isPointerTy(); });
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

void Execution::runCall(const CallInst& call, Expr& condition) {
  if (isOwnCall(call)) runBarrierObject(call, condition);
  if (barrierOf(call).kind != BarrierKind::None) return runBarrier(call, condition);
  if (isOwnCall(call) || runIntrinsic(call, condition)) return;
  if (auto* assembly = dyn_cast<InlineAsm>(call.getCalledOperand())) {
    runAssembly(call, condition);
    const StringRef text = StringRef(assembly->getAsmString()).trim();
    if (text.starts_with("trap") || text.starts_with("exit")) condition = exprs.boolean(false);
    return;
  }
  const llvm::Function* callee = call.getCalledFunction();
  if (callee && runLibraryCall(call, callee->getName(), condition)) return;
  runUnfollowedCall(call);
}

/// What is done to a barrier object, as an access to it: to set it up is none of the atomic ones.
void Execution::runBarrierObject(const CallInst& call, Expr condition) {
  if (!call.getArgOperand(0)->getType()->isPointerTy()) return; // a named one
  const bool isAtomic = call.getCalledFunction()->getName() != kInitObject;
  record(call, isAtomic ? AccessKind::Atomic : AccessKind::Write, value(call.getArgOperand(0)),
         exprs.constant(64, 8), condition, nullptr, isAtomic ? AtomicScope::Block : AtomicScope::None);
}

/// What a barrier orders is for others to see; here it is what it gives, and who comes past it.
void Execution::runBarrier(const CallInst& call, Expr& condition) {
  const BarrierKind barrier = barrierOf(call).kind;
  const std::string line = state.lineText(call);
  if (barrier == BarrierKind::Partial || (barrier == BarrierKind::Named && !state.hasGroups)) {
    // Sound without it; a race found across it leans on leaving it out.
    Symbol* ignored = local(call, "partial", "past the barrier (" + line + ")", 1);
    ignored->exact = false;
    ignored->cause = {CauseKind::Order, "the barrier at " + line + ", which may order threads"};
    if (state.phased)
      if (auto doubt = state.phased->doubts.find(&call); doubt != state.phased->doubts.end())
        ignored->cause.text += ": " + doubt->second;
    state.pastBarriers.insert(ignored);
    condition = exprs.logicalAnd(condition, exprs.of(ignored));
    state.gap(&call, "whether all threads come that this barrier of some waits for is not followed", false,
              true, false);
  }
  if (barrier == BarrierKind::Warp || barrier == BarrierKind::Lanes)
    for (const CallInst* partial : partialBefore(state, call)) {
      Symbol* handed = local(call, "handed on", "past the warp's barrier (" + line + ")", 1);
      handed->exact = false;
      handed->cause = {CauseKind::Order,
                       "the barrier at " + state.lineText(*partial) +
                           ", to which others of the warp have come and which may order threads"};
      state.pastBarriers.insert(handed);
      const auto itself = conditions.find(partial->getParent());
      Expr past = exprs.of(handed);
      condition = exprs.logicalAnd(condition,
                                   itself != conditions.end() ? exprs.logicalOr(itself->second, past) : past);
    }
  if (call.getType()->isVoidTy() || !isRelevant(&call)) return;
  if (isOwnCall(call)) {
    env[&call] = fresh(&call, "object", "a result (" + line + ")",
                       {CauseKind::Order, "what the barrier at " + line + " says"});
    state.synchronizing.insert(env[&call]->symbol);
    return;
  }
  Cause voted{CauseKind::Approximation, "the result of the barrier at " + line};
  if (call.arg_size() > 0) // a vote about what atomics have found says what these do
    for (const Cause& cause : causesOf(value(call.getArgOperand(call.arg_size() - 1))))
      if (cause.kind == CauseKind::Order || cause.kind == CauseKind::Wait) voted.kind = CauseKind::Order;
  if (barrier != BarrierKind::Block || state.cut < Cut::Block) {
    env[&call] = fresh(&call, "vote", "a vote (" + line + ")", voted);
    return;
  }
  auto* vote = state.symbols.function(&call, "vote", "the block's vote (" + line + ")",
                                      widthOf(call.getType(), state.layout));
  vote->varies = Varies::ByBlock;
  vote->exact = false;
  vote->cause = voted;
  env[&call] = exprs.apply(vote, barrierCounters(call.getParent()));
}

/// A call whose body is not at hand, or calls itself.
void Execution::runUnfollowedCall(const CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  const std::string name = callee ? demangle(callee->getName()) : "a function pointer";
  std::set<const llvm::Function*> seen;
  if (!callee)
    state.gap(&call, "a call through a pointer whose targets are not known", true, true);
  else if (!callee->isDeclaration() && !touchesLocalsOnly(*callee, seen))
    state.gap(&call, "the recursive function `" + name + "` is not followed", true, true);
  else if (callee->isDeclaration() && takesPointer(call) && !call.onlyReadsMemory())
    state.gap(&call, "the function `" + name + "` has no body here");
  else if (callee->isDeclaration())
    state.assume("calls of `" + name + "` touch no memory of the kernel");
  if (!isRelevant(&call)) return;
  const std::string line = state.lineText(call);
  Expr result =
      fresh(&call, "call", "a result (" + line + ")", {{}, "the result of `" + name + "` at " + line});
  bool isPointer = call.getType()->isPointerTy();
  env[&call] = isPointer ? exprs.add(state.objects.pointerTo(state.objects.unknown()), result) : result;
}

} // namespace kcheck::analyzer
