// Copies of small objects (`float4 v = p[i];`, `s[i] = t[i];`) become the loads and stores that a GPU would
// do, so that either side is a site of its own.
#pragma once

#include <functional>

namespace llvm {
class Function;
class Value;
} // namespace llvm

namespace kcheck::frontend {

/// `isPrivate` says whether an address is that of a plain local variable. A copy between two of those stays.
/// Pieces follow the fields where there is padding, else the alignment, up to 16 bytes.
void lowerSmallCopies(llvm::Function& function, const std::function<bool(const llvm::Value*)>& isPrivate);

/// What a function returns field by field: some may have no value, and between them is nothing to read.
void lowerReturnedStructures(llvm::Function& function);

} // namespace kcheck::frontend
