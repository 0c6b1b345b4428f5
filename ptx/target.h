// What differs between those who read inline PTX: how scopes are spelt, where shared memory begins, and which
// special registers there are.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string>

namespace kcheck::ptx {

enum class Scope : std::uint8_t { Block = 1, Device = 2, System = 3 };

class Target {
public:
  virtual ~Target() = default;
  virtual llvm::SyncScope::ID scopeId(llvm::LLVMContext& context, Scope scope) = 0;
  /// The generic pointer that an address in shared memory means, of which the low 32 bits are enough.
  virtual llvm::Value* fromShared(llvm::IRBuilder<>& b, llvm::Value* address) = 0;
  /// What the special register (`laneid`) holds; null when it is unknown.
  virtual llvm::Value* special(llvm::IRBuilder<>& b, const std::string& name) = 0;
  /// The condition code that `.cc` forms leave to the thread's later statements, also those of other asm
  /// statements.
  virtual llvm::Value* carry(llvm::IRBuilder<>& b) = 0; ///< one bit
  virtual void setCarry(llvm::IRBuilder<>& b, llvm::Value* carry) = 0;
  /// An access or fence that stands for the asm statement.
  virtual void made(llvm::Instruction&) {}
};

} // namespace kcheck::ptx
