// Where the runtime lays the blocks' shared memory: instrumented code tells it from global memory by its address.
#pragma once

#include "instrument/abi.h"

namespace kcheck::abi {

inline constexpr std::uint64_t kSharedStart = kArenaStart + (1ull << 36);
inline constexpr std::uint64_t kSharedExtent = 1ull << 33;

} // namespace kcheck::abi
