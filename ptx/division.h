// Integer division as a GPU has it, which has a result for every divisor.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace kcheck::ptx {

/// Whether the language leaves open what a division by `divisor` gives.
bool isOpenDivision(llvm::Instruction::BinaryOps operation, const llvm::Value* divisor);

/// `udiv`, `sdiv`, `urem` or `srem`: by zero the quotient is all ones and the remainder the dividend; the
/// least number divided by -1 is itself.
llvm::Value* divided(llvm::IRBuilderBase& b, llvm::Instruction::BinaryOps operation, llvm::Value* dividend,
                     llvm::Value* divisor);

} // namespace kcheck::ptx
