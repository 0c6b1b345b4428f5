// Who calls whom, indirect calls included: a call through a pointer may reach every function of its type
// whose address is taken.
#pragma once

#include <map>
#include <set>
#include <vector>

namespace llvm {
class CallBase;
class Function;
class Module;
} // namespace llvm

namespace kcheck::instrument {

class CallGraph {
public:
  explicit CallGraph(llvm::Module& module);

  /// Defined functions, each after those that it calls directly (cycles aside).
  const std::vector<llvm::Function*>& calleesFirst() const { return order; }
  /// On a cycle of direct calls.
  bool isRecursive(const llvm::Function& function) const { return recursive.contains(&function); }
  const std::vector<llvm::Function*>& direct(llvm::Function& function) const { return calls.at(&function); }
  /// What the indirect calls in `function` may reach.
  const std::vector<llvm::Function*>& indirect(llvm::Function& function) const {
    return throughPointers.at(&function);
  }

  /// `from` and everything that it may come to call.
  std::set<llvm::Function*> reachable(llvm::Function& from) const;

private:
  std::map<const llvm::Function*, std::vector<llvm::Function*>> calls, throughPointers;
  std::vector<llvm::Function*> order;
  std::set<const llvm::Function*> recursive;

  void visit(llvm::Function& function, std::vector<llvm::Function*>& path, std::set<llvm::Function*>& done);
};

} // namespace kcheck::instrument
