// The log of accesses of kernels whose checks wait until the warp does (abi::TraitLogged). While a warp runs,
// device code writes one row of addresses per access; when all its lanes have stopped, the rows are checked
// and their cost is added up, many lanes at a time. Whatever that fast way cannot settle is undone, and the
// accesses are gone through one by one in the order in which they happened, with memory as it was: reports
// are the same as if each access had been checked on the spot.
#pragma once

#include "instrument/runtime/core/state.h"

namespace kcheck::runtime {

/// The lanes are about to run: their logs start at the beginning.
void beginRows(LaunchState& launch, ThreadState* lanes, std::uint32_t count, const std::uint8_t* order);
/// All lanes have stopped: checks what they have logged and adds up what it cost.
void finishRows(LaunchState& launch);
/// In the middle of the warp: checks what has been logged so far. Comes before everything that checks or
/// changes the shadow by itself.
void settleRows(LaunchState& launch);

/// How the 32 addresses of a row lie.
enum class RowShape : std::uint8_t {
  Contiguous, ///< each active lane right behind the one before; the active lanes are neighbours
  Uniform,    ///< all the same
  Halves,     ///< the two halves of the warp, each contiguous or uniform
  Other,
};

struct RowClass {
  RowShape shape;
  RowShape half[2]; ///< of Halves
};

/// Of the lanes in `mask`, not 0, each accessing `bytes`.
RowClass classify(const Address* addresses, std::uint32_t mask, std::uint32_t bytes);

/// What one request costs; the same as costOfGlobal and costOfShared.
Traffic costOfRow(const Address* addresses, std::uint32_t mask, std::uint32_t bytes, bool shared,
                  const RowClass& row);

} // namespace kcheck::runtime
