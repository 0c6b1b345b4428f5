// Calls that stand for something in device code until a late stage can write it out: the hidden thread
// parameter, and a wait of which only the suspension stage knows whether it is a coroutine's or a fibre's.
#pragma once

#include "instrument/pass/abi_calls.h"

namespace kcheck::instrument {

/// `ptr kcheck.thread()`: the running thread's ThreadContext.
llvm::Value* threadMarker(llvm::IRBuilderBase& builder);

struct WaitArguments {
  abi::WaitKind kind;
  llvm::Value *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr, *e = nullptr; ///< null: 0
  bool unaligned = false; ///< a barrier that threads may reach from different places
};
/// `{i64, i32} kcheck.wait(kind, a, b, c, d, e)`: result and predicate of abi::Wait.
llvm::CallInst* waitMarker(llvm::IRBuilderBase& builder, const WaitArguments& arguments);

bool isThreadMarker(const llvm::Instruction& instruction);
bool isWaitMarker(const llvm::Instruction& instruction);
bool isUnaligned(const llvm::CallInst& marker);
abi::WaitKind waitKindOf(const llvm::CallInst& marker);

} // namespace kcheck::instrument
