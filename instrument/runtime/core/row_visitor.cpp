#include "instrument/runtime/core/row_visitor.h"

#include "instrument/runtime/core/access.h"
#include "instrument/runtime/core/metrics.h"
#include "instrument/runtime/core/outside.h"
#include "instrument/runtime/core/row_sketch.h"
#include "instrument/runtime/core/row_words.h"
#include "instrument/runtime/core/share.h"

#include <bit>

namespace kcheck::runtime {

namespace {

/// Of an atomic: how many lanes meet at the address where most do.
std::uint32_t turnsAt(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
                      const RowClass& shape) {
  const abi::SiteInfo* site = access.kind == abi::SiteKind::Atomic ? context().site(access.site) : nullptr;
  if (!site || site->kind != abi::SiteKind::Atomic) return 0;
  std::uint32_t positions = ~std::uint32_t{0} >> (kWarpSize - lanes.count);
  bool apart = shape.shape == RowShape::Other && shape.first == positions; // often no two lanes meet
  return apart ? 1 : turnsOf(at, positions);
}

KnownCost costOf(const abi::LoggedAccess& access, KnownRow& row, const Address* at, const RowLanes& lanes) {
  // Banks go round: words of shared memory cost the same at any distance. Others do at some sectors'
  // distance.
  bool shared = inShared(at[0]);
  Address unit = shared ? 4 : kSector;
  if (at != row.at() && (shared != inShared(row.at()[0]) || (at[0] - row.at()[0]) % unit))
    return {costOfRow(at, lanes, access.bytes, shared, row.shape), turnsAt(access, at, lanes, row.shape)};
  if (!row.costKnown)
    row.cost = !shared && row.shape.shape == RowShape::Other && row.shape.isAligned(at[0], access.bytes)
                   ? costOfScattered(row.shape, access.bytes)
                   : costOfRow(at, lanes, access.bytes, shared, row.shape);
  row.costKnown = true;
  return {row.cost, turnsAt(access, at, lanes, row.shape)};
}

KCHECK_VECTORS bool anyForeign(const Address* at) {
  Address foreign = 0;
  for (std::uint32_t i = 0; i < kWarpSize; ++i) foreign |= Address{!inArena(at[i])};
  return foreign != 0;
}

} // namespace

/// `addressesOf` (row, at) gives the addresses logged in one row of the segment, `sketchOf` (row, bytes,
/// sketch) how they lie. Accesses that share one share its shape.
template <class AddressesOf, class SketchOf>
void RowVisitor::visit(const abi::LogSegment& segment, std::uint32_t mask, AddressesOf addressesOf,
                       SketchOf sketchOf, bool checks, bool costs) {
  const SegmentSeries& series =
      work.series.of(static_cast<std::uint32_t>(&segment - segments), runtime::module());
  SeriesDone done;
  const bool recording = checks && !failed && work.pattern.records(),
             following = checks && !failed && work.pattern.follows();
  if (recording) work.pattern.record(window, segment, mask, costs && counting);
  std::uint64_t settled = 0; ///< accesses, as the pattern has them
  const bool asBefore = following && follow(segment, mask, addressesOf, costs && counting, settled);
  if (!series.all().empty() && !recording && !asBefore)
    done = visitSeries(series, lanesOf(mask), addressesOf, checks, costs);
  KnownRows& known = work.known;
  known.begin();
  const KnownRow* scattered = nullptr; ///< the last one that was looked at closely
  RowSketch sketched;
  std::uint32_t sketchedRow = ~std::uint32_t{0}; ///< none, or one of which nothing is known
  auto sketchRow = [&](std::uint32_t row, std::uint32_t bytes) {
    if (sketchesWords) return sketchOf(row, bytes, sketched);
    alignas(64) Address at[kWarpSize];
    addressesOf(row, at);
    return sketchLanes(at, lanesOf(mask).count, bytes, sketched);
  };
  for (std::uint32_t i = 0; i < segment.count; ++i) {
    if (i < 64 && settled >> i & 1) continue;
    std::uint64_t bit = series.of(i) < 64 ? std::uint64_t{1} << series.of(i) : 0;
    bool toCheck = checks && !failed && !(done.checked & bit),
         toCount = costs && counting && !(done.counted & bit);
    if (!toCheck && !toCount && !allQuiet) continue;
    const abi::LoggedAccess& access = accesses[segment.first + i];
    const Address distance = distanceOf(access, launch);
    if (toCount && access.kind == abi::SiteKind::Read && launch.quiet.any()) {
      if (sketchedRow != access.row || sketched.bytes != access.bytes)
        sketchedRow = sketchRow(access.row, access.bytes) ? access.row : ~std::uint32_t{0};
      if (sketchedRow == access.row && sketched.holdsAt(distance) &&
          launch.quiet.cover(sketched.low + distance, sketched.high + distance, access.bytes,
                             ownBase(access))) {
        addCost(access, sketched.first + distance, sketched.count, {sketched.costAt(distance)}, 1);
        continue;
      }
    }
    const RowLanes& lanes = lanesOf(mask);
    if (!toCount && isPlainlyQuiet(access, lanes, addressesOf)) continue;
    KnownRow& row = known.row(segment, access.row);
    if (!known.isRead(row, segment, access.row)) {
      if (scattered == &row) scattered = nullptr;
      addressesOf(access.row, row.room());
      take(row, segment, access, lanes, scattered);
    } else if (row.bytes != access.bytes) {
      look(row, lanes, access.bytes, scattered);
    }
    const Address* at = row.at();
    alignas(64) Address moved[kWarpSize];
    if (distance) {
      shifted(row.at(), distance, moved);
      at = moved;
    }
    allQuiet = allQuiet && access.kind == abi::SiteKind::Read && isQuiet(access, at, lanes, row.shape);
    bool inPattern = false;
    if (toCheck && !isQuiet(access, at, lanes, row.shape)) {
      if (following && whereaboutsOf(at, access.bytes).anyShared) stray();
      if (!failed) check(access, at, lanes, row.shape);
      inPattern = recording && record(access, i, row, at);
    }
    if (!toCount || hasLocal(at, lanes)) continue;
    const KnownCost cost =
        known.costOf(access, segment.first + i, row, [&] { return costOf(access, row, at, lanes); });
    addCost(access, at[0], lanes.count, cost, 1);
    if (inPattern) work.pattern.recordCost({&access, at[0], cost.request, cost.turns, lanes.count, 1});
  }
}

/// Whether the visit is the one that the block before made here: then what it does in shared memory is fine,
/// and costs what that cost.
template <class AddressesOf>
bool RowVisitor::follow(const abi::LogSegment& segment, std::uint32_t mask, AddressesOf addressesOf,
                        bool counts, std::uint64_t& settled) {
  BlockPattern& pattern = work.pattern;
  const BlockPattern::Visit* visit = pattern.next(window);
  bool same = visit && pattern.isThis(*visit, window, segment, mask, counts);
  for (std::uint32_t i = 0; same && i < visit->rowsEnd - visit->rows; ++i) {
    const BlockPattern::Row& row = pattern.rowsOf(*visit)[i];
    alignas(64) Address at[kWarpSize];
    addressesOf(row.number, at);
    same = sameAddresses(at, pattern.addressesOf(row));
  }
  if (!same) {
    stray();
    return false;
  }
  pattern.pass();
  for (std::uint32_t i = 0; i < visit->costsEnd - visit->costs; ++i) {
    const BlockPattern::Cost& cost = pattern.costsOf(*visit)[i];
    addCost(*cost.access, cost.first, cost.lanes, {cost.request, cost.turns}, cost.times);
  }
  settled = visit->settled;
  return true;
}

/// Whether the access, which has been checked, is part of the block's pattern.
bool RowVisitor::record(const abi::LoggedAccess& access, std::uint32_t number, const KnownRow& row,
                        const Address* at) {
  BlockPattern& pattern = work.pattern;
  const Whereabouts where = whereaboutsOf(at, access.bytes);
  if (failed || !where.anyShared || !pattern.records()) return false;
  if (!where.allShared || access.bytes < 4 || number >= 64) {
    pattern.giveUp();
    return false;
  }
  pattern.recordAccess(number, access, row.at());
  return true;
}

/// Whether lanes access their own local memory, which a GPU interleaves: that is no traffic as it lies here.
bool RowVisitor::hasLocal(const Address* at, const RowLanes& lanes) const {
  if (!anyForeign(at)) return false;
  for (std::uint32_t i = 0; i < lanes.count; ++i)
    if (!inArena(at[i]) && (isLocal(log.lanes[lanes.lane[i]], at[i]) ||
                            log.lanes->owner().sharedLocals.holds(at[i]))) // another thread's: told
      return true;
  return false;
}

/// The row is the one whose addresses lie in its room. In most kernels it has the shape of the last one.
void RowVisitor::take(KnownRow& row, const abi::LogSegment& segment, const abi::LoggedAccess& access,
                      const RowLanes& lanes, const KnownRow*& other) {
  bool same = row.segment == &segment && row.number == access.row && row.mask == lanes.mask &&
              row.bytes == access.bytes && row.liesTheSame();
  row.take();
  row.repeats = same;
  work.known.markRead(row);
  if (same) {
    row.shape.origin = row.at()[0];
    return;
  }
  row.segment = &segment;
  row.number = access.row;
  row.mask = lanes.mask;
  look(row, lanes, access.bytes, other);
}

/// Finds the row's shape: that of `other` where it lies in the same way, as arrays with one index do.
void RowVisitor::look(KnownRow& row, const RowLanes& lanes, std::uint32_t bytes, const KnownRow*& other) {
  work.known.newPattern(row);
  row.repeats = false;
  if (other && other->bytes == bytes && sameAtEnds(other->at(), row.at()) &&
      sameBesides(other->at(), row.at())) {
    row.bytes = other->bytes;
    row.shape = other->shape;
    row.shape.origin = row.at()[0];
    row.costKnown = other->costKnown;
    row.cost = other->cost;
    return;
  }
  row.bytes = static_cast<std::uint8_t>(bytes);
  classify(row.shape, row.at(), lanes, bytes);
  row.costKnown = false;
  if (row.shape.shape == RowShape::Other) other = &row;
}

/// What can be said of all reads of a series at once: those of shared memory, whose banks go round, so that
/// all cost the same.
template <class AddressesOf>
RowVisitor::SeriesDone RowVisitor::visitSeries(const SegmentSeries& all, const RowLanes& lanes,
                                               AddressesOf addressesOf, bool checks, bool costs) {
  SeriesDone done;
  std::uint64_t bit = 1;
  for (const RowSeries& series : all.all()) {
    alignas(64) Address at[kWarpSize];
    addressesOf(series.first->row, at);
    Reach reach = reachOf(at);
    Address low = reach.low + static_cast<Address>(std::int64_t{series.lowest}),
            high = reach.high + static_cast<Address>(std::int64_t{series.highest}) + series.first->bytes - 1;
    bool aligned =
        reach.isAligned(static_cast<Address>(std::int64_t{series.first->offset}), series.first->bytes);
    if (inShared(low) && inShared(high) && low <= high && aligned) {
      RowClass shape;
      classify(shape, at, lanes, series.first->bytes);
      if (checks && !failed) {
        auto result = work.cells.checkSeries(window, series, at, lanes, shape);
        failed = result == RowCells::SeriesCheck::Failed;
        if (result == RowCells::SeriesCheck::Settled) done.checked |= bit;
      }
      // Where accesses were lost, each one is weighed by itself.
      if (costs && counting && weight == 1) {
        addCost(*series.first, at[0], lanes.count,
                {costOfRow(at, lanes, series.first->bytes, inShared(at[0]), shape), 0}, series.count);
        done.counted |= bit;
      }
    }
    if (!(bit <<= 1)) break;
  }
  return done;
}

void RowVisitor::addCost(const abi::LoggedAccess& access, Address first, std::uint32_t count,
                         const KnownCost& cost, std::uint32_t times) {
  addTraffic(*counting, slotsOf(launch), access.site, first, cost.request, cost.turns, count, access.bytes,
             weight, times);
}

/// Whether the access needs no look at the shadow.
bool RowVisitor::isQuiet(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
                         const RowClass& shape) {
  if (!launch.quiet.any()) return false;
  bool isRun = shape.shape == RowShape::Contiguous || shape.shape == RowShape::Uniform ||
               (shape.shape == RowShape::Other && shape.ascending && shape.isAligned(at[0], access.bytes));
  if (access.kind == abi::SiteKind::Read)
    return launch.quiet.cover(at, lanes.count, access.bytes, isRun, ownBase(access));
  launch.quiet.noteWrite(at, lanes.count, access.bytes, isRun);
  return false;
}

/// The same without a look at the row's shape.
template <class AddressesOf>
bool RowVisitor::isPlainlyQuiet(const abi::LoggedAccess& access, const RowLanes& lanes,
                                AddressesOf addressesOf) {
  if (access.kind != abi::SiteKind::Read || !launch.quiet.any()) return false;
  alignas(64) Address at[kWarpSize];
  addressesOf(access.row, at);
  if (Address distance = distanceOf(access, launch)) shifted(at, distance, at);
  return launch.quiet.cover(at, lanes.count, access.bytes, false, ownBase(access));
}

void RowVisitor::check(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
                       const RowClass& shape) {
  if (access.bytes < 4) work.pattern.meetPieces();
  if (access.kind == abi::SiteKind::Read) {
    if (shape.shape == RowShape::Other && work.repeats.again(access, at, lanes)) return;
  } else {
    work.repeats.forget();
  }
  if (access.kind == abi::SiteKind::Atomic) rememberScope(access);
  if (!staysInArray(access, at, lanes, shape)) {
    failed = true;
    return;
  }
  contents.row = access.content;
  failed = launch.share ? !launch.share->check(window, access, at, lanes, shape, contents)
                        : !work.cells.check(window, access, at, lanes, shape, contents);
}

/// Whether no lane leaves the array that it belongs in.
bool RowVisitor::staysInArray(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
                              const RowClass& shape) const {
  const OwnArray& own = launch.arrays[access.array];
  if (!own.base) return true;
  if (shape.shape == RowShape::Contiguous || shape.shape == RowShape::Uniform ||
      (shape.shape == RowShape::Other && shape.ascending))
    return own.holds(at[0], at[lanes.count - 1], access.bytes);
  const Reach reach = reachOf(at);
  return own.holds(reach.low, reach.high, access.bytes);
}

Address RowVisitor::ownBase(const abi::LoggedAccess& access) const {
  return launch.arrays[access.array].base;
}

void RowVisitor::rememberScope(const abi::LoggedAccess& access) {
  std::vector<std::uint8_t>& scopes = launch.atomicScope;
  std::uint16_t site = narrowSite(access.site);
  if (scopes.size() <= site) scopes.resize(site + 1u);
  scopes[site] = static_cast<std::uint8_t>(AtomicOrder{access.order}.scope());
}

void RowVisitor::visitSegment(const Word* words, std::uint32_t mask, bool checks) {
  contents = {words};
  auto wordsOf = [&](std::uint32_t row) { return words + std::size_t{row} * abi::kLogLanes; };
  visit(
      segments[words[std::countr_zero(mask)] >> 48], mask,
      [&](std::uint32_t row, Address* at) {
        if (mask == ~std::uint32_t{0}) return addressesOf(wordsOf(row), at);
        addressesOf(wordsOf(row), lanesOf(mask), at);
      },
      [&](std::uint32_t row, std::uint32_t bytes, RowSketch& result) {
        return sketch(wordsOf(row), mask, bytes, result);
      },
      checks, true);
}

void RowVisitor::visitGroup(const RowGroup& group, bool checks, bool costs) {
  contents = {log.rows, group.row};
  visit(
      segments[group.segment], group.mask,
      [&](std::uint32_t row, Address* at) {
        const RowLanes& lanes = lanesOf(group.mask);
        auto word = [&](std::uint32_t i) {
          const std::uint32_t lane = lanes.lane[i];
          return log.rows[(std::size_t{group.row[lane]} + row) * abi::kLogLanes + lane];
        };
        addressesOf(lanes.count, word, at);
      },
      [&](std::uint32_t row, std::uint32_t bytes, RowSketch& result) {
        return sketch(log.rows, group, row, bytes, result);
      },
      checks, costs);
}

} // namespace kcheck::runtime
