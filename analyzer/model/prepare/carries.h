// PTX's condition code in the static pass: add.cc and its like leave a carry to later asm statements of the
// thread, which LLVM's passes do not see.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace kcheck::analyzer {

/// Before anything is simplified: asm statements with a carry stay, also where nobody wants their result.
void keepCarries(llvm::Module& module);

/// What an asm statement that is being read finds, and leaves.
llvm::Value* readCarry(llvm::IRBuilder<>& b);
void writeCarry(llvm::IRBuilder<>& b, llvm::Value* carry);

/// When all asm statements of the kernel are read: the carry goes from each to the next as a value. Past
/// calls, and past asm statements with a carry that were not understood, nobody knows it.
void connectCarries(llvm::Function& kernel);

} // namespace kcheck::analyzer
