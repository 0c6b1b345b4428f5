#include "instrument/pass/call_graph.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <algorithm>

namespace kcheck::instrument {

namespace {
void addOnce(std::vector<llvm::Function*>& list, llvm::Function* function) {
  if (std::find(list.begin(), list.end(), function) == list.end()) list.push_back(function);
}
} // namespace

CallGraph::CallGraph(llvm::Module& module) {
  std::vector<llvm::Function*> addressTaken;
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && function.hasAddressTaken()) addressTaken.push_back(&function);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    auto& targets = calls[&function];
    auto& possible = throughPointers[&function];
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (!call || call->isInlineAsm()) continue;
      if (llvm::Function* callee = call->getCalledFunction()) {
        if (!callee->isDeclaration()) addOnce(targets, callee);
        continue;
      }
      for (llvm::Function* candidate : addressTaken)
        if (candidate->getFunctionType() == call->getFunctionType()) addOnce(possible, candidate);
    }
  }
  std::set<llvm::Function*> done;
  std::vector<llvm::Function*> path;
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) visit(function, path, done);
}

std::set<llvm::Function*> CallGraph::reachable(llvm::Function& from) const {
  std::set<llvm::Function*> seen{&from};
  std::vector<llvm::Function*> work{&from};
  while (!work.empty()) {
    llvm::Function* next = work.back();
    work.pop_back();
    for (const auto* list : {&direct(*next), &indirect(*next)})
      for (llvm::Function* callee : *list)
        if (seen.insert(callee).second) work.push_back(callee);
  }
  return seen;
}

void CallGraph::visit(llvm::Function& function, std::vector<llvm::Function*>& path,
                      std::set<llvm::Function*>& done) {
  if (auto on = std::find(path.begin(), path.end(), &function); on != path.end()) {
    recursive.insert(on, path.end());
    return;
  }
  if (!done.insert(&function).second) return;
  path.push_back(&function);
  for (llvm::Function* callee : calls.at(&function)) visit(*callee, path, done);
  path.pop_back();
  order.push_back(&function);
}

} // namespace kcheck::instrument
