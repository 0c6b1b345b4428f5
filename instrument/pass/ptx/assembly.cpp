#include "instrument/pass/lowering.h"

#include <llvm/IR/InlineAsm.h>

namespace kcheck::instrument {

llvm::Value* lowerAssembly(Lowering& l) {
  auto* assembly = llvm::cast<llvm::InlineAsm>(l.call.getCalledOperand());
  return l.unsupported("PTX `" + assembly->getAsmString() + "`");
}

} // namespace kcheck::instrument
