// Reads in a loop whose address does not change with it: once a warp has made them, and as long as it writes
// nothing, they change nothing and need no check.
#pragma once

#include "instrument/runtime/core/rows.h"

namespace kcheck::runtime {

class RowRepeats {
public:
  /// From here on nothing counts as repeated.
  void forget() { ++version; }
  /// True when the same lanes, perhaps with others, have made the same access at the same addresses already.
  /// Remembers what the next ones have to agree with.
  bool again(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes) {
    Entry& entry = entries[access.site % kEntries];
    bool similar = entry.access == &access && entry.version == version &&
                   entry.byLane[lanes.lane[0]] == at[0] && (entry.mask >> lanes.lane[0] & 1);
    if (!similar) {
      // One lane will do to see whether it is worth while.
      entry.access = &access;
      entry.version = version;
      entry.mask = 1u << lanes.lane[0];
      entry.byLane[lanes.lane[0]] = at[0];
      return false;
    }
    bool same = !(lanes.mask & ~entry.mask);
    for (std::uint32_t i = 0; same && i < lanes.count; ++i) same = entry.byLane[lanes.lane[i]] == at[i];
    if (same) return true;
    entry.mask = lanes.mask;
    for (std::uint32_t i = 0; i < lanes.count; ++i) entry.byLane[lanes.lane[i]] = at[i];
    return false;
  }

private:
  static constexpr std::uint32_t kEntries = 16;
  struct Entry {
    const abi::LoggedAccess* access = nullptr;
    std::uint64_t version = 0;
    std::uint32_t mask = 0; ///< lanes of `byLane`
    Address byLane[kWarpSize]{};
  };
  Entry entries[kEntries];
  std::uint64_t version = 1;
};

} // namespace kcheck::runtime
