// One segment of the log (row_log.h), of the lanes that go through it together: each of its accesses is
// checked and its cost added up as a row.
#pragma once

#include "instrument/runtime/core/row_log.h"

namespace kcheck::runtime {

class RowVisitor {
public:
  RowVisitor(LaunchState& launch, RowChecks& checks, const RowLog& log, const RowWindow& window,
             SiteTraffics* counting)
      : launch(launch), work(checks), log(log), segments(module().segments), accesses(module().accesses),
        window(window), counting(counting) {}

  /// The words of a segment's first row, of lanes that are together.
  void visitSegment(const Word* words, std::uint32_t mask, bool checks);
  /// Lanes that have come to the segment each at its own row.
  void visitGroup(const RowGroup& group, bool checks, bool costs);

  bool failed = false;   ///< a check needs a replay
  bool strayed = false;  ///< or that the block is looked at by itself (block_pattern.h)
  bool allQuiet = false; ///< all accesses of the group so far, if that is of use
  double weight = 1;     ///< of an access, where others were lost

private:
  LaunchState& launch;
  RowChecks& work;
  const RowLog& log;
  const abi::LogSegment* segments;
  const abi::LoggedAccess* accesses;
  RowWindow window;
  RowContents contents;   ///< of the segment that is visited
  SiteTraffics* counting; ///< null: what the accesses cost is nobody's question

  const RowLanes& lanesOf(std::uint32_t mask) {
    if (work.lanes.mask != mask) work.lanes = RowLanes(mask);
    return work.lanes;
  }
  /// Series, by number.
  struct SeriesDone {
    std::uint64_t checked = 0, counted = 0;
  };

  template <class AddressesOf, class SketchOf>
  void visit(const abi::LogSegment& segment, std::uint32_t mask, AddressesOf addressesOf, SketchOf sketchOf,
             bool checks, bool costs);
  template <class AddressesOf>
  bool follow(const abi::LogSegment& segment, std::uint32_t mask, AddressesOf addressesOf, bool counts,
              std::uint64_t& settled);
  void stray() { failed = strayed = true; }
  bool record(const abi::LoggedAccess& access, std::uint32_t number, const KnownRow& row, const Address* at);
  template <class AddressesOf>
  SeriesDone visitSeries(const SegmentSeries& all, const RowLanes& lanes, AddressesOf addressesOf,
                         bool checks, bool costs);
  void take(KnownRow& row, const abi::LogSegment& segment, const abi::LoggedAccess& access,
            const RowLanes& lanes, const KnownRow*& other);
  void look(KnownRow& row, const RowLanes& lanes, std::uint32_t bytes, const KnownRow*& other);
  void addCost(const abi::LoggedAccess& access, Address first, std::uint32_t count, const KnownCost& cost,
               std::uint32_t times);
  bool isQuiet(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
               const RowClass& shape);
  template <class AddressesOf>
  bool isPlainlyQuiet(const abi::LoggedAccess& access, const RowLanes& lanes, AddressesOf addressesOf);
  void check(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
             const RowClass& shape);
  bool hasLocal(const Address* at, const RowLanes& lanes) const;
  bool staysInArray(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
                    const RowClass& shape) const;
  Address ownBase(const abi::LoggedAccess& access) const;
  void rememberScope(const abi::LoggedAccess& access);
};

} // namespace kcheck::runtime
