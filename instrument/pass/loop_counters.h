// What loops count.
#pragma once

#include <set>

namespace llvm {
class DataLayout;
class Loop;
class PHINode;
class Value;
} // namespace llvm

namespace kcheck::instrument {

/// Also where nobody has worked it out yet: inlined code shifts constants.
bool isZero(llvm::Value* value, const llvm::DataLayout& layout);

/// What a number at the head of the loop may be in the next round, by way of phis and choices; the number
/// itself where some round leaves it as it was.
std::set<llvm::Value*> nextValues(llvm::PHINode& number, const llvm::Loop& loop);

/// A variable that each round of the loop advances by the same.
bool isCounter(const llvm::PHINode& phi, const llvm::Loop& loop);
/// The same where some ways round may leave it as it was.
bool mayCount(llvm::PHINode& number, const llvm::Loop& loop);

} // namespace kcheck::instrument
