// What reads of arrays that a launch only reads (quiet.h) cost: such a row needs no look at the shadow, and
// on machines that can the words of the log tell it, without bringing the lanes side by side.
#pragma once

#include "instrument/runtime/core/row_groups.h"

namespace kcheck::runtime {

/// How the addresses of one logged row lie, of lanes that access `bytes` each.
struct RowSketch {
  Address first, low, high; ///< of the first lane; of all
  std::uint32_t bytes, count;
  std::uint32_t sectors, different; ///< how many of each there are among the addresses
  bool aligned;
  bool inRun; ///< each lane right behind the one before, or all at one address

  /// Whether cost() holds of the same row at that distance.
  bool holdsAt(Address distance) const {
    return aligned && !(distance & (inRun ? bytes - 1u : kSector - 1u));
  }
  RequestCost costAt(Address distance) const {
    const std::uint32_t wanted = different * bytes;
    auto ideal = static_cast<std::uint32_t>((wanted + kSector - 1) / kSector);
    if (!inRun) return {sectors, ideal, 0};
    const Address from = low + distance;
    return {static_cast<std::uint32_t>((from + wanted - 1) / kSector - from / kSector + 1), ideal, 0};
  }
};

/// Of `count` lanes whose addresses lie side by side, as RowLanes has them. False where it cannot be told so
/// simply.
bool sketchLanes(const Address* at, std::uint32_t count, std::uint32_t bytes, RowSketch& row);

/// This machine can tell it from the words of the log, where lanes may be missing.
extern const bool sketchesWords;
/// Of the lanes in `mask` (not 0), whose words lie side by side.
bool sketch(const Word* words, std::uint32_t mask, std::uint32_t bytes, RowSketch& row);
/// Of the lanes of a group, in row `number` of its segment; `rows`: where the log begins.
bool sketch(const Word* rows, const RowGroup& group, std::uint32_t number, std::uint32_t bytes,
            RowSketch& row);

} // namespace kcheck::runtime
