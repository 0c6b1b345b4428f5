// The fast way through the log of a warp: row by row, all lanes of a row at once.
#include "instrument/runtime/core/rows.h"

#include "instrument/runtime/core/row_log.h"
#include "instrument/runtime/core/row_visitor.h"

#include <algorithm>
#include <bit>

namespace kcheck::runtime {

namespace {

/// Goes over the rows of a warp that has stopped: their checks when `checking`, and what they cost.
class Rows {
public:
  Rows(LaunchState& launch, RowChecks& checks, const RowLog& log, const RowWindow& window, bool checking,
       SiteTraffics* counting)
      : launch(launch), work(checks), log(log), segments(module().segments), checking(checking),
        visitor(launch, checks, log, window, counting) {}

  /// False when the checks need a replay.
  bool run() {
    work.repeats.forget();
    measure();
    if (checking && log.spills) work.pattern.interrupt(launch, work.cells);
    std::uint32_t row = 0;
    while (row < longest) {
      std::uint32_t active = row < shortest ? all : lanesBeyond(used, row);
      const Word* words = log.rows + std::size_t{row} * abi::kLogLanes;
      if (!sameSegment(words, active)) break;
      visitor.visitSegment(words, active, checking);
      row += segmentAt(words[std::countr_zero(active)]).rows;
    }
    if (row < longest) diverge(row);
    if (checking && !visitor.failed) {
      work.cells.commit();
      work.pattern.endLog();
    }
    if (visitor.failed) work.cells.undo();
    return !visitor.failed;
  }
  /// It failed because the block does not do what the one before did.
  bool strayed() const { return visitor.strayed; }

private:
  LaunchState& launch;
  RowChecks& work;
  const RowLog& log;
  const abi::LogSegment* segments;
  bool checking;
  RowVisitor visitor;
  std::uint32_t used[kWarpSize]; ///< rows, by lane; of lanes that use as many only in diverge()
  std::uint32_t all = 0, longest = 0, shortest = 0; ///< of the lanes that use any

  void measure() {
    if (log.even) {
      all = ~std::uint32_t{0} >> (kWarpSize - log.count);
      longest = shortest = log.used(0);
      return;
    }
    std::fill_n(used, kWarpSize, 0);
    for (std::uint32_t lane = 0; lane < log.count; ++lane) used[lane] = log.used(lane);
    RowExtent extent = extentOf(used);
    all = extent.lanes;
    longest = extent.longest;
    shortest = extent.shortest;
    if (!log.spills) return;
    std::uint64_t lost = 0, kept = 0;
    for (std::uint32_t lane = 0; lane < log.count; ++lane) {
      lost += log.lost[lane];
      kept += accessesIn(log.rows + lane, used[lane]);
    }
    visitor.weight = 1 + double(lost) / double(kept);
  }

  /// From here on lanes go different ways. Those that stay longest in what comes first in the code, a loop,
  /// are in step as before; the others wait for them.
  void diverge(std::uint32_t row) {
    if (log.even) {
      std::fill_n(used, kWarpSize, 0);
      std::fill_n(used, log.count, longest);
    }
    if (work.follows() && follow(row)) return;
    std::uint32_t from[kWarpSize];
    work.groups.begin(module().segmentCount);
    goOn(row, from);
    group(from);
    if (work.groups.meetsAgain() || !work.groups.keepsOrder()) ++work.apart;
    if (work.groups.meetsAgain()) { // lanes that waited come by the same place: it is one request for all
      work.inStep.clear();
      work.groups.begin(module().segmentCount);
      std::fill_n(from, kWarpSize, row);
      group(from);
    }
    for (const RowInStep& step : work.inStep) {
      const Word* words = log.rows + std::size_t{step.row} * abi::kLogLanes;
      visitor.visitSegment(words, step.mask, checking);
    }
    bool outOfOrder = checking && !visitor.failed && !work.groups.keepsOrder();
    for (const RowGroup& group : work.groups) {
      visitor.allQuiet = outOfOrder;
      visitor.visitGroup(group, checking && !outOfOrder, true);
      if (outOfOrder && !visitor.allQuiet) work.groups.takeNote(group.segment);
    }
    visitor.allQuiet = false;
    if (!outOfOrder || !work.groups.anyMatters()) return;
    bool wereQuiet = launch.quiet.any();
    checkInOrder(from);
    // A write has led into one of the arrays: reads of it may matter.
    if (wereQuiet && !launch.quiet.any()) visitor.failed = true;
  }

  /// Looks at all lanes from `row` on in an order that is that of each. False: they do not go the same ways.
  bool follow(std::uint32_t row) {
    work.groups.begin(module().segmentCount);
    if (!work.groups.follow(log.rows, used, row, segments)) {
      ++work.lost;
      return false;
    }
    ++work.apart;
    const RowGroup* end = work.groups.begin() + work.groups.inOrderUpTo();
    for (const RowGroup& group : work.groups)
      visitor.visitGroup(group, checking && &group < end,
                         &group >= end || !work.groups.countsApart(group.segment));
    return true;
  }

  /// Fills log.inStep from `row` on, and says where each lane goes on after that.
  void goOn(std::uint32_t row, std::uint32_t* from) {
    constexpr std::uint32_t none = ~std::uint32_t{0};
    work.inStep.clear();
    std::fill_n(from, kWarpSize, row);
    std::uint32_t active = lanesBeyond(used, row);
    std::uint32_t waiting = none; ///< the first segment that somebody waits at
    auto leave = [&](std::uint32_t leaving) {
      for (; leaving; leaving &= leaving - 1) from[std::countr_zero(leaving)] = row;
    };
    while (active) {
      const Word* words = log.rows + std::size_t{row} * abi::kLogLanes;
      FirstSegment first = firstSegment(words, active);
      if (first.segment >= waiting) return leave(active);
      waiting = std::min(waiting, first.next);
      leave(active & ~first.mask);
      work.inStep.push_back({row, first.mask});
      work.groups.take(first.segment);
      row += segments[first.segment].rows;
      active = first.mask & lanesBeyond(used, row);
      leave(first.mask & ~active);
    }
  }

  /// Counts what the lanes do from there on by segment and how often a lane has been there. Checked the same
  /// way where that keeps the order of each lane's accesses.
  void group(const std::uint32_t* from) {
    // The longest first: what its loop does after the others have left then comes before what follows the
    // loop.
    std::uint32_t rows[kWarpSize]{};
    std::uint8_t order[kWarpSize];
    for (std::uint32_t lane = 0; lane < log.count; ++lane) rows[lane] = used[lane] - from[lane];
    longestFirst(rows, order);
    for (std::uint32_t lane : order) {
      if (!rows[lane]) return;
      work.groups.addLane(lane, log.rows + lane, from[lane], used[lane], segments);
    }
  }

  /// Where the groups do not keep the order of what matters: lanes that are at the same segment take it
  /// together, the first segment of the code first, so that those who went another way can catch up. `at`:
  /// where each lane is.
  void checkInOrder(std::uint32_t* at) {
    constexpr std::uint32_t kDone = ~std::uint32_t{0};
    std::uint32_t segment[kWarpSize];
    auto look = [&](std::uint32_t lane) {
      for (; at[lane] < used[lane]; at[lane] += segments[segment[lane]].rows) {
        const Word* word = log.rows + std::size_t{at[lane]} * abi::kLogLanes + lane;
        segment[lane] = static_cast<std::uint32_t>(*word >> 48);
        if (work.groups.matters(segment[lane])) return;
      }
      segment[lane] = kDone;
    };
    for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) look(lane);
    RowGroup group;
    while (!visitor.failed) {
      const LowestLanes lowest = lowestLanes(segment);
      if (lowest.value == kDone) return;
      group.segment = lowest.value;
      group.mask = lowest.mask;
      const abi::LogSegment& taken = segments[group.segment];
      for (std::uint32_t left = group.mask; left; left &= left - 1) {
        auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        group.row[lane] = static_cast<std::uint16_t>(at[lane]);
        at[lane] += taken.rows;
        look(lane);
      }
      visitor.visitGroup(group, true, false);
    }
  }
};

} // namespace

bool checkRows(LaunchState& launch, RowChecks& checks, const RowLog& log, const RowWindow& window,
               bool checking, SiteTraffics* counting) {
  Rows rows(launch, checks, log, window, checking, counting);
  if (rows.run()) return true;
  if (!rows.strayed()) return false;
  checks.pattern.stray(launch, checks.cells);
  return Rows(launch, checks, log, window, checking, nullptr).run(); // all is counted
}

} // namespace kcheck::runtime
