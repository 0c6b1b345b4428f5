// How far a memory fence reaches.
#pragma once

namespace llvm {
class Instruction;
}

namespace kcheck::analyzer {

/// 0: no fence. 1: one for the block. 2: one for the device or the system.
unsigned fenceReach(const llvm::Instruction& instruction);

} // namespace kcheck::analyzer
