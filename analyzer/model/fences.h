// How far a memory fence reaches, and which accesses one can order.
#pragma once

#include <map>

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
} // namespace llvm

namespace kcheck::analyzer {

/// 0: no fence. 1: one for the block. 2: one for the device or the system.
unsigned fenceReach(const llvm::Instruction& instruction);
inline constexpr unsigned kBlockReach = 1, kDeviceReach = 2;

/// The same of atomics that acquire or release by themselves.
unsigned acquireReach(const llvm::Instruction& instruction);
unsigned releaseReach(const llvm::Instruction& instruction);

/// Whether it is one of those fences that all threads see in one order, as `__threadfence()` is.
bool isInOneOrder(const llvm::Instruction& fence);

/// The widest fence that may run before or after each instruction, in whichever thread: all run the same
/// code. A flag or lock orders what one thread has done before a fence and another does after one. Within a
/// block a barrier counts as a fence; whatever is not understood counts as a wide one.
class FenceMap {
public:
  explicit FenceMap(const llvm::Function& kernel);
  unsigned before(const llvm::Instruction& instruction) const;
  unsigned after(const llvm::Instruction& instruction) const;

private:
  std::map<const llvm::BasicBlock*, unsigned> above,
      below; ///< outside of the block, or in it by way of a loop
};

} // namespace kcheck::analyzer
