#include "analyzer/model/prepare/called_code.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/CallPromotionUtils.h"

using namespace llvm;

namespace kcheck::analyzer {
namespace {

/// Adds what `value` mentions, through constants and function bodies.
void addReachable(const Value* value, std::set<const Value*>& reached,
                  std::vector<const llvm::Function*>& bodies) {
  if (!isa<Constant>(value) || !reached.insert(value).second) return;
  if (auto* function = dyn_cast<llvm::Function>(value)) {
    if (!function->isDeclaration()) bodies.push_back(function);
    return;
  }
  for (const Use& use : cast<Constant>(value)->operands()) addReachable(use, reached, bodies);
}

bool callsThroughPointer(const Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  return call && call->isIndirectCall() && !isa<InlineAsm>(call->getCalledOperand());
}

} // namespace

std::set<const Value*> reachableFrom(const std::vector<const llvm::Function*>& kernels,
                                     const std::set<const llvm::Function*>& taken) {
  std::set<const Value*> reached;
  std::vector<const llvm::Function*> bodies;
  for (auto* kernel : kernels) addReachable(kernel, reached, bodies);
  while (!bodies.empty()) {
    const llvm::Function* function = bodies.back();
    bodies.pop_back();
    for (auto& block : *function)
      for (auto& instruction : block) {
        for (const Use& operand : instruction.operands()) addReachable(operand, reached, bodies);
        if (callsThroughPointer(instruction))
          for (const llvm::Function* target : taken) addReachable(target, reached, bodies);
      }
  }
  return reached;
}

std::set<const llvm::Function*> recursiveFunctions(Module& module) {
  std::set<const llvm::Function*> result;
  CallGraph graph(module);
  for (auto scc = scc_begin(&graph); !scc.isAtEnd(); ++scc)
    if (scc.hasCycle())
      for (CallGraphNode* node : *scc)
        if (node->getFunction()) result.insert(node->getFunction());
  return result;
}

bool promoteIndirectCalls(Module& module, const std::set<const llvm::Function*>& taken) {
  std::vector<CallInst*> calls;
  for (auto& function : module)
    for (auto& block : function)
      for (auto& instruction : block)
        if (callsThroughPointer(instruction)) calls.push_back(cast<CallInst>(&instruction));
  bool changed = false;
  for (CallInst* call : calls) {
    std::vector<llvm::Function*> targets;
    for (auto& candidate : module)
      if (!candidate.isDeclaration() && taken.count(&candidate) &&
          candidate.getFunctionType() == call->getFunctionType())
        targets.push_back(&candidate);
    if (targets.empty()) continue; // left as it is: the model reports it
    for (llvm::Function* target : drop_end(targets)) promoteCallWithIfThenElse(*call, target);
    promoteCall(*call, targets.back());
    changed = true;
  }
  return changed;
}

} // namespace kcheck::analyzer
