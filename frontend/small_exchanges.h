// `atomicCAS` of 16 bits: the toolkit's headers call a function of the device library for it that has no
// body.
#pragma once

namespace llvm {
class Module;
}

namespace kcheck::frontend {

/// Makes instructions of these calls, as clang does for 32 and 64 bits.
void replaceSmallExchanges(llvm::Module& module);

} // namespace kcheck::frontend
