// What threads of a block may do between two barriers.
#pragma once

#include <map>
#include <set>

namespace llvm {
class BasicBlock;
class Function;
} // namespace llvm

namespace kcheck::analyzer {

/// Starts of intervals between barriers of the block, with what may run before the next barrier.
using Intervals = std::map<const llvm::BasicBlock*, std::set<const llvm::BasicBlock*>>;

Intervals intervalsOf(const llvm::Function& kernel);

} // namespace kcheck::analyzer
