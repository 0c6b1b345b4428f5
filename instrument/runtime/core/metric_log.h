// The log of a warp's accesses between two waits, and what one row of it costs. A row is one warp-level
// request: the addresses of the lanes that are active in it.
#pragma once

#include "instrument/runtime/core/shadow.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace kcheck::runtime {

inline constexpr unsigned kSectorBits = 5;
inline constexpr Address kSector = Address{1} << kSectorBits;

/// Sums over requests; fields as in report/report.h.
struct Traffic {
  std::uint64_t requests = 0, sectors = 0, idealSectors = 0, bytes = 0, lanes = 0, slots = 0, turns = 0;
  std::uint32_t bankWays = 0;
};

/// What one request costs: sectors, of shared memory ways.
struct RequestCost {
  std::uint32_t sectors = 0, idealSectors = 0, bankWays = 0;
};

/// One request: `mask` says which of the 32 addresses count; each lane accesses `bytes` (at most 16).
RequestCost costOfGlobal(const Address* addresses, std::uint32_t mask, std::uint32_t bytes);
RequestCost costOfShared(const Address* addresses, std::uint32_t mask, std::uint32_t bytes);

/// Of an atomic (mask not 0): how many of the lanes meet at the address where most do, one after the other.
std::uint32_t turnsOf(const Address* addresses, std::uint32_t mask);

class AccessLog {
public:
  static constexpr std::uint32_t kLanes = 32;
  static constexpr std::uint32_t kRows = 1 << 14; ///< further accesses of a lane are counted, not kept

  void add(std::uint32_t lane, Address address, std::uint32_t bytes, std::uint32_t site) {
    std::uint32_t row = used[lane];
    if (row == kRows) [[unlikely]] {
      ++lost[lane];
      return;
    }
    used[lane] = row + 1;
    if (row == made) grow();
    rows[row / kChunk][row % kChunk].entry[lane] = {address | std::uint64_t{bytes} << 48, site};
  }
  bool empty() const;

  /// Calls visit(site, mask, addresses, bytes, weight) for each request of the warp, then forgets them. The
  /// n-th accesses of lanes to one site are one request. `weight` is above 1 when accesses were lost.
  template <class Visit> void drain(Visit visit);

private:
  struct Entry {
    std::uint64_t addressAndBytes;
    std::uint32_t site;
  };
  struct Row {
    Entry entry[kLanes];
  };
  static constexpr std::uint32_t kChunk = 64;
  static constexpr std::uint64_t kAddress = (std::uint64_t{1} << 48) - 1;

  /// What the lanes have logged of one site, wherever they went in between.
  struct Visits {
    std::uint32_t site;
    std::uint32_t count[kLanes]{}; ///< by lane
    std::uint32_t first[kLanes]{}; ///< in `sorted`
  };
  /// Fills `visits` and `sorted`.
  void sortBySite();
  void grow();
  bool convergent(const Row& row, std::uint32_t mask) const;
  template <class Visit> void visitRow(const Row& row, std::uint32_t mask, double weight, Visit visit);
  template <class Visit> void drainDivergent(double weight, Visit visit);

  std::vector<std::unique_ptr<Row[]>> rows;
  std::uint32_t made = 0;
  std::vector<Visits> visits;
  std::vector<std::uint64_t> sorted; ///< addresses and sizes, by site, lane and time
  std::uint32_t used[kLanes]{};
  std::uint64_t lost[kLanes]{};
};

template <class Visit>
void AccessLog::visitRow(const Row& row, std::uint32_t mask, double weight, Visit visit) {
  Address addresses[kLanes];
  std::uint32_t first = static_cast<std::uint32_t>(__builtin_ctz(mask));
  for (std::uint32_t lane = 0; lane < kLanes; ++lane)
    addresses[lane] = row.entry[lane].addressAndBytes & kAddress;
  visit(row.entry[first].site, mask, addresses,
        static_cast<std::uint32_t>(row.entry[first].addressAndBytes >> 48), weight);
}

template <class Visit> void AccessLog::drain(Visit visit) {
  std::uint32_t mask = 0, longest = 0;
  std::uint64_t kept = 0, dropped = 0;
  bool same = true;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!used[lane]) continue;
    same &= !longest || used[lane] == longest;
    mask |= 1u << lane;
    longest = used[lane] > longest ? used[lane] : longest;
    kept += used[lane];
    dropped += lost[lane];
  }
  if (!mask) return;
  double weight = dropped ? 1 + double(dropped) / double(kept) : 1;
  for (std::uint32_t row = 0; same && row < longest; ++row)
    same = convergent(rows[row / kChunk][row % kChunk], mask);
  if (same)
    for (std::uint32_t row = 0; row < longest; ++row)
      visitRow(rows[row / kChunk][row % kChunk], mask, weight, visit);
  else
    drainDivergent(weight, visit);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) used[lane] = 0, lost[lane] = 0;
}

/// Lanes went different ways: their accesses meet by site and by how often each lane has been there.
template <class Visit> void AccessLog::drainDivergent(double weight, Visit visit) {
  sortBySite();
  for (const Visits& one : visits) {
    std::uint32_t most = *std::max_element(one.count, one.count + kLanes);
    for (std::uint32_t occurrence = 0; occurrence < most; ++occurrence) {
      Row row{};
      std::uint32_t mask = 0;
      for (std::uint32_t lane = 0; lane < kLanes; ++lane)
        if (occurrence < one.count[lane]) {
          mask |= 1u << lane;
          row.entry[lane] = {sorted[one.first[lane] + occurrence], one.site};
        }
      visitRow(row, mask, weight, visit);
    }
  }
}

} // namespace kcheck::runtime
