// Special registers (%tid, %laneid, ...) as fields of the thread's context.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace kcheck::instrument {

/// The value of special register `name` ("tid.x", "lanemask.lt"), 32 bits unless the register has 64; null
/// when there is no such register.
llvm::Value* readRegister(llvm::IRBuilderBase& builder, llvm::StringRef name, llvm::Value* thread);

bool isKnownRegister(llvm::StringRef name);

} // namespace kcheck::instrument
