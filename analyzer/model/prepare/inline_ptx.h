// Inline PTX becomes the instructions that it stands for, before anything else looks at a kernel: what is
// followed of `a[i] = x` and atomicAdd is followed of `st.global` and `atom.add` as well.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace kcheck::analyzer {

inline constexpr const char* kOrdersByPtx =
    "kcheck.orders"; ///< metadata of accesses and fences with PTX's orders

/// An asm statement of which one instruction is not understood stays whole. Whether any was replaced.
bool readInlinePtx(llvm::Function& kernel);

} // namespace kcheck::analyzer
