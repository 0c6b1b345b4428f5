// Inline PTX to IR, statement by statement, each by the rule for its opcode.
#pragma once

#include "ptx/builder.h"

namespace kcheck::ptx {

/// Puts what the asm statement means before it, where `b` inserts; `rules` are looked at in order. Its result
/// (null where there is none), or nothing where it is not understood: `failure` is then the statement that
/// has no rule, and what was put there so far is of no use.
std::optional<llvm::Value*> translate(llvm::CallInst& call, llvm::IRBuilder<>& b, Target& target,
                                      llvm::ArrayRef<const Rules*> rules, std::string& failure);

} // namespace kcheck::ptx
