#include "instrument/runtime/core/block_pattern.h"

#include "instrument/runtime/core/row_log.h"
#include "instrument/runtime/core/vectors.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace kcheck::runtime {
namespace {

constexpr std::size_t kMostVisits = 4096, kMostRows = 2048;
/// Rows that are looked through for one with the same addresses: those of a warp in the interval before.
constexpr std::size_t kLookedBack = 64;

} // namespace

KCHECK_VECTORS bool sameAddresses(const Address* a, const Address* b) {
  Address different = 0;
  for (std::uint32_t i = 0; i < kWarpSize; ++i) different |= a[i] ^ b[i];
  return !different;
}

KCHECK_VECTORS Whereabouts whereaboutsOf(const Address* at, std::uint32_t bytes) {
  std::uint32_t shared = 0, whole = 0;
  for (std::uint32_t i = 0; i < kWarpSize; ++i) {
    const std::uint32_t first = inShared(at[i]), last = inShared(at[i] + bytes - 1);
    shared |= first | last;
    whole += first & last;
  }
  return {shared != 0, whole == kWarpSize};
}

void BlockPattern::forget() {
  known = false;
  visits.clear();
  rows.clear();
  addresses.clear();
  costs.clear();
}

void BlockPattern::beginLaunch(bool isUsable) {
  forget();
  usable = isUsable;
  mode = Mode::Off;
  inBlock = false;
  blocks = strays = straysInRow = 0;
}

void BlockPattern::beginBlock(const LaunchState& launch, RowCells& cells) {
  if (!usable) return;
  if (inBlock) { // beside another one
    interrupt(launch, cells);
    giveUp();
    return;
  }
  inBlock = true;
  at = begun = 0;
  intervals.clear();
  ++blocks;
  constexpr std::uint32_t few = 4, often = 4;
  if (strays > few && often * strays > blocks) return giveUp();
  if (straysInRow > 1) forget();              // the block that it was learned from is not like others
  if (known && rows.empty()) return giveUp(); // nothing to gain
  if (!known) forget();
  mode = known ? Mode::Follows : Mode::Records;
}

void BlockPattern::endBlock() {
  if (!inBlock) return;
  if (mode == Mode::Follows) straysInRow = 0;
  if (mode == Mode::Records) {
    known = true;
    straysInRow = 0;
  }
  mode = Mode::Off;
  inBlock = false;
}

void BlockPattern::giveUp() {
  forget();
  usable = inBlock = false;
  mode = Mode::Off;
}

std::uint32_t BlockPattern::intervalOf(const RowWindow& now) {
  window = now;
  if (intervals.empty() || intervals.back() != now.interval) intervals.push_back(now.interval);
  return static_cast<std::uint32_t>(intervals.size() - 1);
}

const BlockPattern::Visit* BlockPattern::next(const RowWindow& now) {
  intervalOf(now);
  return at < visits.size() ? &visits[at] : nullptr;
}

bool BlockPattern::isThis(const Visit& visit, const RowWindow& now, const abi::LogSegment& segment,
                          std::uint32_t mask, bool counts) const {
  return visit.segment == &segment && visit.mask == mask && visit.interval + 1 == intervals.size() &&
         visit.warp == now.me - now.interval && visit.counts == counts;
}

void BlockPattern::record(const RowWindow& now, const abi::LogSegment& segment, std::uint32_t mask,
                          bool counts) {
  auto row = static_cast<std::uint32_t>(rows.size()), cost = static_cast<std::uint32_t>(costs.size());
  visits.push_back({&segment, mask, intervalOf(now), now.me - now.interval, counts, 0, row, row, cost, cost});
  if (visits.size() > kMostVisits || addresses.size() > kMostRows) giveUp();
}

std::uint32_t BlockPattern::placeOf(const Address* logged) {
  const std::size_t end = addresses.size(), from = end - std::min(end, kLookedBack);
  for (std::size_t place = end; place-- > from;)
    if (sameAddresses(addresses[place].at, logged)) return static_cast<std::uint32_t>(place);
  std::copy_n(logged, kWarpSize, addresses.emplace_back().at);
  return static_cast<std::uint32_t>(end);
}

void BlockPattern::recordAccess(std::uint32_t number, const abi::LoggedAccess& access,
                                const Address* logged) {
  Visit& visit = visits.back();
  visit.settled |= std::uint64_t{1} << number;
  for (std::uint32_t i = visit.rows; i < visit.rowsEnd; ++i)
    if (rows[i].number == access.row) return;
  rows.push_back({access.row, placeOf(logged)});
  ++visit.rowsEnd;
}

void BlockPattern::recordCost(const Cost& cost) {
  Visit& visit = visits.back();
  for (std::uint32_t i = visit.costs; i < visit.costsEnd; ++i) {
    Cost& other = costs[i];
    const bool same = other.access->site == cost.access->site && other.access->bytes == cost.access->bytes &&
                      other.request.bankWays == cost.request.bankWays && other.turns == cost.turns;
    if (!same) continue;
    other.first = std::min(other.first, cost.first);
    other.times += cost.times;
    return;
  }
  costs.push_back(cost);
  ++visit.costsEnd;
}

/// What the block has done before its last log, as it was done when it was recorded: with its own tokens.
void BlockPattern::catchUp(const LaunchState& launch, RowCells& cells) {
  const abi::LoggedAccess* accesses = module().accesses;
  for (std::size_t i = 0; i < begun; ++i) {
    const Visit& visit = visits[i];
    RowWindow then = window;
    then.interval = intervals[visit.interval];
    then.me = then.interval + visit.warp;
    const RowLanes lanes(visit.mask);
    for (std::uint64_t left = visit.settled; left; left &= left - 1) {
      const abi::LoggedAccess& access = accesses[visit.segment->first + std::countr_zero(left)];
      const Row* row = rowsOf(visit);
      while (row->number != access.row) ++row;
      alignas(64) Address moved[kWarpSize];
      shifted(addressesOf(*row), distanceOf(access, launch), moved);
      RowClass shape;
      classify(shape, moved, lanes, access.bytes);
      const bool fine = cells.check(then, access, moved, lanes, shape, {});
      assert(fine && "what was in order in one block is so in another that does the same");
      static_cast<void>(fine);
    }
    cells.commit();
  }
}

void BlockPattern::stray(const LaunchState& launch, RowCells& cells) {
  if (mode != Mode::Follows) return;
  catchUp(launch, cells);
  mode = Mode::Off;
  ++strays;
  ++straysInRow;
}

void BlockPattern::interrupt(const LaunchState& launch, RowCells& cells) {
  stray(launch, cells);
  if (mode == Mode::Records) ++strays;
  mode = Mode::Off;
  if (usable) forget();
}

} // namespace kcheck::runtime
