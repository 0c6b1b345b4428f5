// Special registers (%tid, %laneid, ...) as fields of the thread's context.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace kcheck::instrument {

/// The value of special register `name` ("tid.x", "lanemask.lt"), 32 bits unless the register has 64; null
/// when there is no such register.
llvm::Value* readRegister(llvm::IRBuilderBase& builder, llvm::StringRef name, llvm::Value* thread);

bool isKnownRegister(llvm::StringRef name);

/// `i32 kcheck.register.NAME()`: read by retarget, which knows the thread.
llvm::Value* registerMarker(llvm::IRBuilderBase& builder, llvm::StringRef name);
/// The register that `instruction` reads, by intrinsic or marker; empty when it does not.
llvm::StringRef registerReadBy(const llvm::Instruction& instruction);

} // namespace kcheck::instrument
