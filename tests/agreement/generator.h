// Random small kernels for the agreement of both passes: shared and global arrays, guards, loops, barriers,
// atomics, narrow indices, views of other types, exchanged pointers. Indices never come from memory and
// barriers stand where all threads come, so that what the static pass refutes the run must see.
#pragma once

#include <cstdint>
#include <string>

namespace kcheck::agreement {

/// The kernel of a seed, named k<seed>. The same seed gives the same kernel on every machine.
std::string kernelOf(std::uint64_t seed);

/// A whole program: the kernels of `count` seeds from `first` on, each launched once.
std::string programOf(std::uint64_t first, unsigned count);

} // namespace kcheck::agreement
