// A write of a bit-field reads the word around it first, to keep the other bits.
#pragma once

namespace llvm {
class LoadInst;
}

namespace kcheck::instrument {

/// Whether the value that was read goes back to its place with other bits changed, and nowhere else: nothing
/// depends on what it was.
bool isBitFieldUpdate(const llvm::LoadInst& load);

} // namespace kcheck::instrument
