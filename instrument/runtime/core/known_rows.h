// What is known of the rows that were looked at last. The warps of a kernel mostly access memory in one
// pattern: a row that lies as the last warp's did has its shape, and costs what that cost.
#pragma once

#include "instrument/runtime/core/row_words.h"
#include "instrument/runtime/core/rows.h"

#include <array>
#include <cstddef>

namespace kcheck::runtime {

/// What a request costs; of an atomic, how many of its lanes meet at one address.
struct KnownCost {
  RequestCost request;
  std::uint32_t turns = 0;
};

/// A logged row: its addresses now, and what follows from how they lie.
class KnownRow {
public:
  const Address* at() const { return addresses[now]; }
  /// Room for the addresses of another row, which take() makes those of this one.
  Address* room() { return addresses[1 - now]; }
  /// Whether they lie as before, a number of sectors further on.
  bool liesTheSame() const {
    const Address *before = addresses[now], *after = addresses[1 - now];
    return sameAtEnds(before, after) && sameBesides(before, after);
  }
  void take() { now = 1 - now; }

  const abi::LogSegment* segment = nullptr;
  std::uint16_t number = 0; ///< in the segment
  std::uint8_t bytes = 0;
  bool costKnown = false;
  bool repeats = false; ///< lies as it lay before
  std::uint32_t mask = 0;
  std::uint64_t read = 0;    ///< when the addresses were read
  std::uint64_t pattern = 0; ///< changes when the lanes lie otherwise
  RowClass shape;
  RequestCost cost;

private:
  std::uint32_t now = 0;
  alignas(64) Address addresses[2][kWarpSize]; ///< vectors that cross lines are slow to read back
};

class KnownRows {
public:
  /// Another launch: its accesses lie otherwise beside each other.
  void forget() { costs = {}; }
  /// Lanes that are together come to a segment: what has been read before is of others.
  void begin() { ++time; }
  /// Where the row is kept; perhaps what is there belongs to another.
  KnownRow& row(const abi::LogSegment& segment, std::uint16_t number) {
    return rows[(segment.first + number) % kKept];
  }
  bool isRead(const KnownRow& row, const abi::LogSegment& segment, std::uint16_t number) const {
    return row.read == time && row.segment == &segment && row.number == number;
  }
  void markRead(KnownRow& row) const { row.read = time; }
  void newPattern(KnownRow& row) { row.pattern = ++patterns; }
  /// What the access costs at a row of this pattern: `find` tells where it is not known.
  template <class Find>
  KCHECK_INLINE KnownCost costOf(const abi::LoggedAccess& access, std::size_t number, const KnownRow& row,
                                 Find find) {
    if (!row.repeats) return find();
    Cost& known = costs[number % kKept];
    if (known.of != &access || known.pattern != row.pattern) known = {&access, row.pattern, find()};
    return known.cost;
  }

private:
  static constexpr std::size_t kKept = 64;
  struct Cost {
    const abi::LoggedAccess* of = nullptr;
    std::uint64_t pattern = 0;
    KnownCost cost;
  };
  KnownRow rows[kKept];
  std::array<Cost, kKept> costs;
  std::uint64_t time = 0, patterns = 0;
};

} // namespace kcheck::runtime
