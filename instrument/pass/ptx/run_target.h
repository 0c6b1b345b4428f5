// What inline PTX means in a run, beyond what ptx/ knows: waits, copies, textures and matrices are calls of
// the runtime.
#pragma once

#include "instrument/pass/lowering.h"
#include "ptx/builder.h"

namespace kcheck::instrument {

class RunTarget : public ptx::Target {
public:
  explicit RunTarget(Lowering& lowering) : l(lowering) {}

  Lowering& l;

  llvm::SyncScope::ID scopeId(llvm::LLVMContext& context, Scope scope) override;
  llvm::Value* fromShared(llvm::IRBuilder<>& b, llvm::Value* address) override;
  llvm::Value* special(llvm::IRBuilder<>& b, const std::string& name) override;
  llvm::Value* carry(llvm::IRBuilder<>& b) override;
  void setCarry(llvm::IRBuilder<>& b, llvm::Value* carry) override;
  void made(llvm::Instruction& instruction) override;
};

inline Lowering& loweringOf(ptx::Builder& p) { return static_cast<RunTarget&>(p.target).l; }

void addSpaces(ptx::Rules& rules);
void addSynchronisation(ptx::Rules& rules);
void addTextures(ptx::Rules& rules);
void addAsync(ptx::Rules& rules);
void addMatrices(ptx::Rules& rules);

} // namespace kcheck::instrument
