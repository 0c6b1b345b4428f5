// Bottom-up over the call graph; nothing but inlining happens to the code.
#include "frontend/inline_wrappers.h"

#include "report/metadata.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

namespace kcheck::frontend {
namespace {

constexpr unsigned kLargestWrapper = 250;   ///< instructions, what it calls included
constexpr unsigned kLargestDispatch = 1000; ///< with a constant argument, which prunes most of it

/// The grid barrier of cooperative groups, which both passes know by its name.
bool isKnownByName(const llvm::Function& function) {
  return function.getName().contains("cooperative_groups") && function.getName().contains("sync_grids");
}

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

bool hasConstantArgument(const llvm::CallBase& call) {
  return llvm::any_of(call.args(),
                      [](const llvm::Use& argument) { return llvm::isa<llvm::ConstantInt>(argument); });
}

/// `wrappers` and their sizes in instructions.
void inlineCalls(llvm::Function& caller, const llvm::DenseMap<const llvm::Function*, unsigned>& wrappers) {
  std::vector<llvm::CallBase*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(caller)) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    const auto wrapper = call ? wrappers.find(call->getCalledFunction()) : wrappers.end();
    if (wrapper == wrappers.end()) continue;
    if (wrapper->second <= kLargestWrapper || hasConstantArgument(*call)) calls.push_back(call);
  }
  for (llvm::CallBase* call : calls) {
    llvm::InlineFunctionInfo info;
    llvm::InlineFunction(*call, info, /*MergeAttributes=*/false, nullptr, /*InsertLifetime=*/false);
  }
}

/// Scalars of a wrapper go to registers, so that inlining with constant arguments (a memory order, say)
/// leaves only the branch that is taken.
void promoteScalars(llvm::Function& function) {
  std::vector<llvm::AllocaInst*> promotable;
  for (llvm::Instruction& instruction : function.getEntryBlock())
    if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
        alloca && llvm::isAllocaPromotable(alloca))
      promotable.push_back(alloca);
  if (promotable.empty()) return;
  llvm::DominatorTree dominators(function);
  llvm::PromoteMemToReg(promotable, dominators);
}

/// Of a library's own function: what it accesses keeps that mark in the callers.
void markAccesses(llvm::Function& function) {
  llvm::MDNode* mark = llvm::MDNode::get(function.getContext(), {});
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (instruction.mayReadOrWriteMemory() && !llvm::isa<llvm::CallBase>(instruction))
      instruction.setMetadata(kLibraryMetadata, mark);
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
  llvm::DenseMap<const llvm::Function*, unsigned> wrappers;
  for (llvm::Function* function : calleesFirst(module, recursive)) {
    inlineCalls(*function, wrappers);
    if (!inSystemHeader(*function)) continue;
    promoteScalars(*function);
    markAccesses(*function);
    const unsigned size = function->getInstructionCount();
    if (size <= kLargestDispatch && !recursive.contains(function) && !isKnownByName(*function) &&
        !function->hasFnAttribute(llvm::Attribute::NoInline) && !function->isVarArg())
      wrappers[function] = size;
  }
  dropUnused(module);
}

} // namespace kcheck::frontend
