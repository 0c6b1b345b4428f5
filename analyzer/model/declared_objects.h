// The memory objects that the module declares: global and shared variables, and the locals of a kernel.
#pragma once

#include "analyzer/model/kernel_state.h"

namespace llvm {
class AllocaInst;
class GlobalVariable;
} // namespace llvm

namespace kcheck::analyzer {

unsigned globalObject(KernelState& state, const llvm::GlobalVariable& variable);
unsigned localObject(KernelState& state, const llvm::AllocaInst& local);

} // namespace kcheck::analyzer
