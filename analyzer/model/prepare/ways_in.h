// Which branches decide where a loop is entered.
#pragma once

#include <set>

namespace llvm {
class BasicBlock;
class Function;
} // namespace llvm

namespace kcheck::analyzer {

/// Whether all threads of a block that come to the loop, by the blocks `inside`, surely enter it in the same
/// place: what decides is made of parameters, block indices and sizes of the launch.
bool isEnteredTogether(const llvm::Function& kernel, const std::set<const llvm::BasicBlock*>& inside);

} // namespace kcheck::analyzer
