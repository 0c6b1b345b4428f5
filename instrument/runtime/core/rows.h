// The log of accesses of kernels whose checks wait until the warp does (abi::TraitLogged). While a warp runs,
// device code writes one row of addresses per access; when all its lanes have stopped, the rows are checked
// and their cost is added up, many lanes at a time. Whatever that fast way cannot settle is undone, and the
// accesses are gone through one by one in the order in which they happened, with memory as it was: reports
// are the same as if each access had been checked on the spot.
#pragma once

#include "instrument/runtime/core/state.h"
#include "instrument/runtime/core/vectors.h"

#include <bit>

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
  // Of Other:
  bool ascending;      ///< each lane's address is at least that of the lane before
  std::uint32_t first; ///< the first lanes with each address
  /// Addresses; a lane that takes no part has the one of a lane that does. They start with the first lane's.
  Address filled[kWarpSize];
};

/// Of the lanes in `mask`, not 0, each accessing `bytes`.
void classify(RowClass& row, const Address* addresses, std::uint32_t mask, std::uint32_t bytes);

/// A lane that takes no part gets the address of the one before that does, or of the first.
KCHECK_INLINE void fillGaps(const Address* addresses, std::uint32_t mask, Address* filled) {
  std::uint32_t first = mask & -mask;
  for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
    std::uint32_t upTo = (mask & (~std::uint32_t{0} >> (31 - lane))) | first;
    filled[lane] = addresses[31 - static_cast<std::uint32_t>(std::countl_zero(upTo))];
  }
}

/// What one request costs; the same as costOfGlobal and costOfShared.
Traffic costOfRow(const Address* addresses, std::uint32_t mask, std::uint32_t bytes, bool shared,
                  const RowClass& row);

} // namespace kcheck::runtime
