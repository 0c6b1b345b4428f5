// The second family of random kernels: what people write, put together at random, and now and then with one
// thing wrong. Structs, two-dimensional tiles, helpers, tickets, locks, elections, warp operations, early
// returns, pointers that move, indices of every width, loops of every style, two-dimensional blocks.
#pragma once

#include <cstdint>
#include <string>

namespace kcheck::agreement {

/// The kernel of a seed, named w<seed>. The same seed gives the same kernel on every machine.
std::string idiomKernelOf(std::uint64_t seed);

/// A whole program: the kernels of `count` seeds from `first` on, each launched twice. With `hidden`, in
/// shapes that the source does not show, so that a proof must be one for any launch.
std::string idiomProgramOf(std::uint64_t first, unsigned count, bool hidden);

} // namespace kcheck::agreement
