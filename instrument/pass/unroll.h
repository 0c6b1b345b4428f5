// Makes accesses of short loops neighbours of each other.
#pragma once

namespace llvm {
class Function;
}

namespace kcheck::instrument {

/// Simplifies `function` and writes out its innermost loops of few turns that access memory. Hooks stay as
/// they are.
void unrollShortLoops(llvm::Function& function);

} // namespace kcheck::instrument
