// The names of a function's own variables, kept at their memory while debug information may still move.
#include "instrument/pass/markers.h"
#include "instrument/pass/stages.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace kcheck::instrument {

void nameLocals(const DeviceCode& code, llvm::Function& function) {
  llvm::LLVMContext& context = function.getContext();
  auto note = [&](const llvm::Value* address, const llvm::DILocalVariable* variable,
                  const llvm::DebugLoc& where) {
    auto* alloca = llvm::dyn_cast_or_null<llvm::AllocaInst>(const_cast<llvm::Value*>(address));
    if (!alloca || variable->getName().empty() || where->getInlinedAt() ||
        !code.isUserFile(variable->getFilename()))
      return;
    alloca->setMetadata(kLocalMetadata,
                        llvm::MDNode::get(context, llvm::MDString::get(context, variable->getName())));
  };
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    for (llvm::DbgVariableRecord& record : llvm::filterDbgVars(instruction.getDbgRecordRange()))
      if (record.isDbgDeclare()) note(record.getAddress(), record.getVariable(), record.getDebugLoc());
    if (auto* declare = llvm::dyn_cast<llvm::DbgDeclareInst>(&instruction))
      note(declare->getAddress(), declare->getVariable(), declare->getDebugLoc());
  }
}

} // namespace kcheck::instrument
