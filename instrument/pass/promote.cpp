// Inlining of small functions and promotion of local variables to registers. Both only uncover what is local:
// accesses of shared or global memory have their hooks already, and a hook goes away only when its address
// has turned out to be a variable of the thread itself.
#include "instrument/pass/analyses.h"
#include "instrument/pass/call_graph.h"
#include "instrument/pass/hooks.h"
#include "instrument/pass/markers.h"
#include "instrument/pass/stages.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace kcheck::instrument {

namespace {

constexpr unsigned kSmall = 300;     ///< instructions of a function that is inlined everywhere
constexpr unsigned kLargest = 60000; ///< instructions at which a function stops growing
constexpr unsigned kPromotionRounds = 16;

/// Takes out hooks of thread-local places; turns those at computed places into kcLocal. True when any went.
bool dropLocalHooks(DeviceCode& code, llvm::Function& function) {
  bool changed = false;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!isCallTo(instruction, Call::kcRead) && !isCallTo(instruction, Call::kcWrite) &&
        !isCallTo(instruction, Call::kcAtomic) && !isCallTo(instruction, Call::kcLocal))
      continue;
    auto& hook = llvm::cast<llvm::CallInst>(instruction);
    bool isLocal = isCallTo(hook, Call::kcLocal);
    llvm::Value* address = hook.getArgOperand(isLocal ? 3 : 1);
    llvm::Value* bytes = hook.getArgOperand(isLocal ? 4 : 2);
    const Locality where = localityOf(address, bytes);
    if (where.kind == Locality::Elsewhere || (isLocal && where.kind != Locality::Inside)) continue;
    if (where.kind == Locality::Computed && where.base) {
      llvm::IRBuilder<> builder(&hook);
      builder.CreateCall(runtimeCall(code.module, Call::kcLocal),
                         {hook.getArgOperand(0), where.base, builder.getInt64(where.bytes), address, bytes,
                          hook.getArgOperand(3)});
    }
    hook.eraseFromParent();
    changed = true;
  }
  return changed;
}

} // namespace

void promoteScalars(DeviceCode& code, llvm::Function& function) {
  Analyses analyses;
  llvm::SROAPass promote(llvm::SROAOptions::PreserveCFG);
  for (unsigned round = 0; round < kPromotionRounds; ++round) {
    dropLocalHooks(code, function);
    auto preserved = promote.run(function, analyses.functions);
    analyses.functions.invalidate(function, preserved);
    if (!dropLocalHooks(code, function) && round > 0) break;
  }
}

void inlineSmall(DeviceCode& code) {
  const CallGraph graph(code.module);
  const auto finishLocals = [&](llvm::Function& function) {
    trackLocals(code, function);
    promoteScalars(code, function);
    settleUnwritten(function);
  };
  std::vector<llvm::Function*> handOn;
  for (llvm::Function* function : graph.calleesFirst()) {
    if (function->isDeclaration()) continue; // inlined everywhere
    std::vector<llvm::CallInst*> work;
    for (llvm::Instruction& instruction : llvm::instructions(*function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) work.push_back(call);
    unsigned size = function->getInstructionCount();
    for (llvm::CallInst* call : work) {
      llvm::Function* callee = call->getCalledFunction();
      if (!callee || callee->isDeclaration() || callee == function || graph.isRecursive(*callee)) continue;
      unsigned added = callee->getInstructionCount();
      bool onlyCall = callee->hasOneUse() && !code.kernelOf(*callee);
      if ((added > kSmall && !onlyCall) || size + added > kLargest) continue;
      llvm::InlineFunctionInfo info;
      if (llvm::InlineFunction(*call, info, false, nullptr, /*InsertLifetime=*/false).isSuccess())
        size += added;
      if (callee->use_empty() && !code.kernelOf(*callee)) callee->deleteBody();
    }
    // A structure goes to the caller with those of its fields that have no value: who reads them is seen
    // there.
    if (function->getReturnType()->isStructTy() && size <= kSmall && !graph.isRecursive(*function))
      handOn.push_back(function);
    else
      finishLocals(*function);
  }
  for (llvm::Function* function : handOn)
    if (!function->isDeclaration()) finishLocals(*function);
  for (llvm::Function& function : llvm::make_early_inc_range(code.module))
    if (function.use_empty() && !code.kernelOf(function)) function.eraseFromParent();
}

} // namespace kcheck::instrument
