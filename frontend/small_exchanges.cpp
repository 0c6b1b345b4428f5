#include "frontend/small_exchanges.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace kcheck::frontend {
namespace {

/// As clang writes atomicCAS, which CUDA defines as relaxed and of device scope.
void replace(llvm::CallInst& call) {
  constexpr auto ordering = llvm::AtomicOrdering::SequentiallyConsistent;
  llvm::IRBuilder<> builder(&call);
  auto* done = builder.CreateAtomicCmpXchg(call.getArgOperand(0), call.getArgOperand(1),
                                           call.getArgOperand(2), llvm::MaybeAlign(), ordering, ordering);
  call.replaceAllUsesWith(builder.CreateExtractValue(done, 0));
  call.eraseFromParent();
}

} // namespace

void replaceSmallExchanges(llvm::Module& module) {
  llvm::Function* function = module.getFunction("__usAtomicCAS");
  if (!function || !function->isDeclaration() || function->arg_size() != 3) return;
  for (llvm::User* user : llvm::make_early_inc_range(function->users()))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user); call && call->getCalledFunction() == function)
      replace(*call);
}

} // namespace kcheck::frontend
