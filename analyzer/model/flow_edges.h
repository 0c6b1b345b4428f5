// What is known of ways between blocks of the control flow.
#pragma once

namespace llvm {
class BasicBlock;
class Loop;
class Value;
} // namespace llvm

namespace kcheck::analyzer {

/// A branch on a constant goes the other way.
bool isNeverGone(const llvm::BasicBlock* from, const llvm::BasicBlock* to);

/// Whether the value may be another one in the next round of the loop.
bool changes(const llvm::Value* value, const llvm::Loop& loop, unsigned depth = 8);

} // namespace kcheck::analyzer
