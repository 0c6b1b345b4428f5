// The log of accesses of kernels whose checks wait until the warp does (abi::TraitLogged). While a warp runs,
// device code writes one row of addresses per access; when all its lanes have stopped, the rows are checked
// and their cost is added up, many lanes at a time. Whatever that fast way cannot settle is undone, and the
// accesses are gone through one by one in the order in which they happened, with memory as it was: reports
// are the same as if each access had been checked on the spot.
#pragma once

#include "instrument/runtime/core/state.h"

#include <bit>

namespace kcheck::runtime {

/// Where the log of a warp's first lane begins, and behind it those of the others; for launches that log.
std::uint64_t* beginOfRows(const LaunchState& launch);
/// The lanes are about to run; they have logged nothing since they last stopped.
void beginRows(LaunchState& launch, ThreadState* lanes, std::uint32_t count, const std::uint8_t* order);
/// All lanes have stopped: checks what they have logged and adds up what it cost.
void finishRows(LaunchState& launch);
/// Comes before everything that a share of a launch (share.h) cannot do: that then does not come back.
void leaveShare(LaunchState& launch);
/// The grid is about to run.
void meetLaunch(LaunchState& launch);
/// A block starts, or has ended.
void meetBlock(LaunchState& launch);
void leaveBlock(LaunchState& launch);
/// In the middle of the warp: checks what has been logged so far. Comes before everything that checks or
/// changes the shadow by itself.
void settleRows(LaunchState& launch);

/// The lanes that take part in a row. What is known of them lies side by side: position n is that of the
/// n-th. Rows of addresses are as long as a warp all the same: what lies behind the last position repeats it.
struct RowLanes {
  std::uint32_t mask, count;
  bool neighbours;              ///< no lane between them is missing
  std::uint8_t lane[kWarpSize]; ///< behind the last position: that of the last
  explicit RowLanes(std::uint32_t mask);
};

/// How the addresses of a row lie.
enum class RowShape : std::uint8_t {
  Contiguous, ///< each lane right behind the one before; the lanes are neighbours
  Uniform,    ///< all the same
  Halves,     ///< the two halves of a whole warp, each contiguous or uniform
  Other,
};

struct RowClass {
  RowShape shape;
  RowShape half[2]; ///< of Halves
  // Of Other:
  bool ascending;        ///< each address is at least the one before
  std::uint32_t first;   ///< the first positions with each address
  std::uint32_t sectors; ///< and with each sector, of the addresses that start with `origin`
  Address origin;
  Address odd; ///< has the low bits that any of those has
  /// Whether accesses of so many bytes each are, at addresses that start with `first`.
  bool isAligned(Address first, std::uint32_t bytes) const {
    return !((odd | (first - origin)) & (bytes - 1u));
  }
};

/// Of at least one lane, each accessing `bytes`.
void classify(RowClass& row, const Address* at, const RowLanes& lanes, std::uint32_t bytes);

/// What aligned accesses to global memory cost that lie anywhere, at the addresses that start with
/// row.origin: two of them have all bytes in common or none.
inline RequestCost costOfScattered(const RowClass& row, std::uint32_t bytes) {
  auto different = static_cast<std::uint32_t>(std::popcount(row.first));
  return {static_cast<std::uint32_t>(std::popcount(row.sectors)), (different * bytes + 31) / 32, 0};
}

/// What one request costs; the same as costOfGlobal and costOfShared.
RequestCost costOfRow(const Address* at, const RowLanes& lanes, std::uint32_t bytes, bool shared,
                      const RowClass& row);

} // namespace kcheck::runtime
