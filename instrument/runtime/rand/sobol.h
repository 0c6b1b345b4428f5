// Direction vectors of Sobol's sequences: the first dimensions are those that S. Joe and F. Y. Kuo recommend,
// the further ones have the next primitive polynomials and starting values of our own.
#pragma once

#include <array>
#include <cstdint>

namespace kcheck::runtime::rand {

inline constexpr unsigned kMostDimensions = 20000;

/// Bit by bit, the leading one first; of 32-bit vectors the upper halves count.
using Directions = std::array<std::uint64_t, 64>;

/// `dimension` counts from 0. What it refers to stays.
const Directions& directions(unsigned dimension);

/// The same with rows below the leading ones mixed, as linear scrambling does; and what is added to each
/// point.
Directions scrambledDirections(unsigned dimension);
std::uint64_t scrambleConstant(unsigned dimension);

} // namespace kcheck::runtime::rand
