#include "frontend/small_exchanges.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace kcheck::frontend {
namespace {

struct Exchange {
  const char* name;
  llvm::AtomicOrdering ordering;
  const char* scope;
};
/// The first as clang writes atomicCAS, which CUDA defines as relaxed and of device scope.
constexpr Exchange kExchanges[] = {
    {"__usAtomicCAS", llvm::AtomicOrdering::SequentiallyConsistent, ""},
    {"__usAtomicCAS_block", llvm::AtomicOrdering::Monotonic, "block"},
    {"__usAtomicCAS_system", llvm::AtomicOrdering::Monotonic, ""},
};

void replace(llvm::CallInst& call, const Exchange& exchange) {
  llvm::IRBuilder<> builder(&call);
  auto* done = builder.CreateAtomicCmpXchg(
      call.getArgOperand(0), call.getArgOperand(1), call.getArgOperand(2), llvm::MaybeAlign(),
      exchange.ordering, exchange.ordering, call.getContext().getOrInsertSyncScopeID(exchange.scope));
  call.replaceAllUsesWith(builder.CreateExtractValue(done, 0));
  call.eraseFromParent();
}

} // namespace

void replaceSmallExchanges(llvm::Module& module) {
  for (const Exchange& exchange : kExchanges) {
    llvm::Function* function = module.getFunction(exchange.name);
    if (!function || !function->isDeclaration() || function->arg_size() != 3) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function->users()))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user); call && call->getCalledFunction() == function)
        replace(*call, exchange);
  }
}

} // namespace kcheck::frontend
