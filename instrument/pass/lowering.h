// One call of device code on its way to plain IR: what the tables of rules (lower_*.cpp, ptx/) work with.
#pragma once

#include "instrument/pass/device_code.h"
#include "instrument/pass/markers.h"
#include "ptx/target.h"

namespace kcheck::instrument {

using ptx::Scope;

class Lowering {
public:
  Lowering(DeviceCode& code, llvm::CallInst& call);

  DeviceCode& code;
  llvm::CallInst& call; ///< what is being replaced
  llvm::IRBuilder<> b;  ///< inserts before it

  llvm::Value* operand(unsigned i) const { return call.getArgOperand(i); }
  llvm::Type* type() const { return call.getType(); }
  llvm::Value* thread() { return threadMarker(b); }
  llvm::CallInst* runtime(Call which, llvm::ArrayRef<llvm::Value*> argumentsAfterThread = {});

  /// Suspends; the answer's two halves, converted to the asked type.
  llvm::Value* wait(const WaitArguments& arguments) { return waitMarker(b, arguments); }
  llvm::Value* result(llvm::Value* wait, llvm::Type* type);
  llvm::Value* predicate(llvm::Value* wait);

  /// Hangs the replaced call's site on an access that stands for it.
  template <typename T> T* sited(T* access) {
    markSite(*access);
    return access;
  }
  llvm::LoadInst* load(llvm::Type* type, llvm::Value* address, llvm::Align align);
  llvm::Value* update(llvm::AtomicRMWInst::BinOp operation, llvm::Value* address, llvm::Value* value,
                      llvm::AtomicOrdering ordering, Scope scope);
  /// The old value.
  llvm::Value* compareExchange(llvm::Value* address, llvm::Value* expected, llvm::Value* desired,
                               llvm::AtomicOrdering ordering, Scope scope);
  void fence(Scope scope, llvm::AtomicOrdering ordering = llvm::AtomicOrdering::SequentiallyConsistent);
  llvm::SyncScope::ID scopeId(Scope scope);

  /// A call of a function of libkcheckrt (`__nv_fadd_rd`) that takes no thread.
  llvm::Value* library(llvm::StringRef name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);

  void trap();
  /// Reports the feature when the place is reached; the value is undefined there.
  llvm::Value* unsupported(const std::string& feature);

private:
  void markSite(llvm::Instruction& access);
};

/// Each returns false when the name is not one of its own. Sets `value` (null for void calls).
bool lowerIntrinsic(Lowering& lowering, llvm::StringRef name, llvm::Value*& value);
bool lowerCollective(Lowering& lowering, llvm::StringRef name, llvm::Value*& value);
bool lowerAtomic(Lowering& lowering, llvm::StringRef name, llvm::Value*& value);
bool lowerArithmetic(Lowering& lowering, llvm::StringRef name, llvm::Value*& value);

/// Math functions with results or arrays behind pointers.
bool lowerMath(Lowering& lowering, llvm::StringRef name, llvm::Value*& value);

/// Calls of functions that CUDA's device library defines: vprintf, malloc, __assertfail, ...
bool lowerLibraryCall(Lowering& lowering, llvm::StringRef name, llvm::Value*& value);

/// Inline PTX; always gives a value (or an unsupported report).
llvm::Value* lowerAssembly(Lowering& lowering);

} // namespace kcheck::instrument
