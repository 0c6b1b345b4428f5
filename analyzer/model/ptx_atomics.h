// Atomic updates in inline PTX, as libcu++ writes them, become what clang makes of atomicAdd and its
// relatives: what is followed of the one is followed of the other.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace kcheck::analyzer {

inline constexpr const char* kOrdersByPtx = "kcheck.orders"; ///< metadata of those that acquire or release

void readPtxAtomics(llvm::Function& kernel);

} // namespace kcheck::analyzer
