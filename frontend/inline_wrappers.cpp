// Bottom-up over the call graph; nothing but inlining happens to the code.
#include "frontend/inline_wrappers.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace kcheck::frontend {
namespace {

constexpr unsigned kLargestWrapper = 160; ///< instructions, what it calls included

/// Functions so that callees come before callers, without those that call themselves in a circle.
std::vector<llvm::Function*> calleesFirst(llvm::Module& module,
                                          llvm::SmallPtrSetImpl<llvm::Function*>& recursive) {
  std::vector<llvm::Function*> order;
  llvm::CallGraph graph(module);
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component) {
    for (llvm::CallGraphNode* node : *component) {
      llvm::Function* function = node->getFunction();
      if (!function || function->isDeclaration()) continue;
      order.push_back(function);
      if (component.hasCycle()) recursive.insert(function);
    }
  }
  return order;
}

void inlineCalls(llvm::Function& caller, const llvm::SmallPtrSetImpl<llvm::Function*>& wrappers) {
  std::vector<llvm::CallBase*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(caller))
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      if (wrappers.contains(call->getCalledFunction())) calls.push_back(call);
  for (llvm::CallBase* call : calls) {
    llvm::InlineFunctionInfo info;
    llvm::InlineFunction(*call, info, /*MergeAttributes=*/false, nullptr, /*InsertLifetime=*/false);
  }
}

void dropUnused(llvm::Module& module) {
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::Function& function : llvm::make_early_inc_range(module)) {
      if (!function.isDeclaration() && !function.isDiscardableIfUnused()) continue;
      function.removeDeadConstantUsers();
      if (!function.use_empty()) continue;
      function.eraseFromParent();
      changed = true;
    }
  }
}

} // namespace

void inlineWrappers(llvm::Module& module, const std::function<bool(const llvm::Function&)>& inSystemHeader) {
  llvm::SmallPtrSet<llvm::Function*, 16> recursive;
  llvm::SmallPtrSet<llvm::Function*, 32> wrappers;
  for (llvm::Function* function : calleesFirst(module, recursive)) {
    inlineCalls(*function, wrappers);
    const bool small = function->getInstructionCount() <= kLargestWrapper;
    if (small && !recursive.contains(function) && !function->hasFnAttribute(llvm::Attribute::NoInline) &&
        !function->isVarArg() && inSystemHeader(*function))
      wrappers.insert(function);
  }
  dropUnused(module);
}

} // namespace kcheck::frontend
