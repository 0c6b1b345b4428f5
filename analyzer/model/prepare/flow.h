// The control flow of a kernel, brought into a form that the model follows: what constants decide is decided,
// recursion that constants end is written out, and jumps into the middle of loops enter in front of them.
#pragma once

#include <set>

namespace llvm {
class Function;
} // namespace llvm

namespace kcheck::analyzer {

/// Folds what is computed from constants alone and drops the branches that are never taken. Accesses stay.
void foldConstants(llvm::Function& kernel);

/// Writes out the calls of `recursive` functions where their arguments end the recursion after a few dozen
/// calls. Returns whether there were such calls and none is left; the kernel keeps what it was otherwise.
bool writeOutRecursion(llvm::Function& kernel, const std::set<const llvm::Function*>& recursive);

/// Loops that are entered in several places (a `switch` into a loop's body): whoever jumps into the middle
/// runs the rest of that round in a copy. With barriers in it, that is the way between two entries that has
/// none; or all threads of a block enter in the same place. Other loops stay as they are.
void enterLoopsAtTheirHead(llvm::Function& kernel);

} // namespace kcheck::analyzer
