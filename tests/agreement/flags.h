// Random kernels whose threads wait for flags of each other: messages, chains of blocks, look-back, warps of
// a block, barriers of the grid made of a counter; mostly right, some with an order left out or a wrong
// place.
#pragma once

#include <cstdint>
#include <string>

namespace kcheck::agreement {

/// The kernel `f<seed>`.
std::string flagKernelOf(std::uint64_t seed);

/// A program with the kernels of so many seeds, each launched with flags and counters of zero.
std::string flagProgramOf(std::uint64_t first, unsigned count);

} // namespace kcheck::agreement
