// Which of a function's own variables may be read before they are written, and all that is done to them.
#pragma once

#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>

#include <set>
#include <vector>

namespace kcheck::instrument {

/// One watched variable: its addresses, each with the place of the twin that belongs to it.
struct Watched {
  llvm::AllocaInst *variable = nullptr, *twin = nullptr;
  std::uint64_t bytes = 0;
  std::vector<llvm::Instruction*> addresses; ///< computed from the variable's, each after what it comes from
  std::vector<llvm::LoadInst*> loads;
  std::vector<llvm::StoreInst*> stores;
  std::vector<llvm::MemIntrinsic*> fills; ///< copies as well, from here and to here
  std::vector<llvm::Instruction*> leaks;  ///< after these others may write it
};

struct WatchedLocals {
  std::vector<Watched> variables;
  std::set<llvm::CallInst*> shuffles; ///< that offer one of them
};

WatchedLocals watchedLocals(llvm::Function& function, const llvm::DominatorTree& dominators);

/// What a field of a structure that a function has returned was made of.
llvm::Value* partItself(llvm::Value* value);

} // namespace kcheck::instrument
