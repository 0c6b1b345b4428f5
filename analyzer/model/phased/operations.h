// What a kernel does at barriers with phases, instruction by instruction, and at which of them.
#pragma once

#include "analyzer/model/execution.h"

namespace kcheck::analyzer {

/// A barrier: one in shared memory by its object and byte offset, or a named one by its number.
struct PhasedName {
  std::optional<unsigned> object;
  std::int64_t number = 0;
  friend auto operator<=>(const PhasedName&, const PhasedName&) = default;
};

struct PhasedOperation {
  const llvm::CallInst* call = nullptr;
  bool arrives = false, waits = false;
  std::vector<PhasedName> names;         ///< in turn, by the rounds of its loop; empty: not followed
  Expr place = nullptr;                  ///< the name as the program finds it
  std::int64_t threads = 0;              ///< of named ones, how many are counted; 0: all
  const llvm::CallInst* token = nullptr; ///< the arrival whose phase is waited for
  Expr parity = nullptr;                 ///< of the phase that is waited for
  bool isOfNumber = false;
};

struct PhasedOperations {
  std::vector<PhasedOperation> all;
  const llvm::Instruction* unread = nullptr;         ///< a named barrier of which that is not known
  const llvm::Instruction* unreadOfObject = nullptr; ///< something done to a barrier object
};
PhasedOperations readPhasedOperations(KernelState& state, Execution& run, const Ways& ways);

} // namespace kcheck::analyzer
