// The shadow side of rows.h: one logged access of many lanes against the cells, all or nothing per row. What
// is changed can be undone until commit().
#pragma once

#include "instrument/runtime/core/rows.h"

namespace kcheck::runtime {

/// What a row's check needs of its block: copies, so that loops keep them in registers.
struct RowWindow {
  Token floor, ordered, born, interval, many, launchMany, first;
  bool ownTokensOrdered; ///< all tokens in [born, interval) are known to come before
  Token me;              ///< of the warp's first lane; lane n has me + 2n
  explicit RowWindow(const BlockState& block, const ThreadState* lanes);
};

class RowCells {
public:
  /// True when the access of all lanes in `mask` comes after everything that conflicts with it, by tokens
  /// alone, and is entered into the cells. False: nothing is known, and some cells may have been changed.
  bool check(const RowWindow& window, const abi::LoggedAccess& access, const Address* addresses,
             std::uint32_t mask, const RowClass& row);
  /// The same for one lane.
  bool checkLane(const RowWindow& window, const abi::LoggedAccess& access, Address address,
                 std::uint32_t lane);

  void commit();
  void undo();

private:
  struct Saved {
    Address address;
    std::uint32_t cells, at; ///< of `cells` and `sites`
  };
  void reserve(); ///< room for all cells of one row
  void save(Address address, std::uint32_t count);
  void saveOne(Address address, Cell cell, CellSites site);
  bool checkRun(const RowWindow& window, const abi::LoggedAccess& access, Address address, std::uint32_t lane,
                std::uint32_t lanes);
  bool checkEach(const RowWindow& window, const abi::LoggedAccess& access, const Address* addresses,
                 std::uint32_t mask);
  template <abi::SiteKind kind, bool shared>
  bool checkLanes(const RowWindow& window, const abi::LoggedAccess& access, const Address* addresses,
                  std::uint32_t mask);
  template <abi::SiteKind kind, bool shared>
  bool checkCell(const RowWindow& window, Token me, Address at, std::uint16_t site);
  bool checkPart(const RowWindow& window, const abi::LoggedAccess& access, const Address* addresses,
                 std::uint32_t mask, RowShape shape);

  std::vector<Saved> saved;
  std::vector<Cell> cells;
  std::vector<CellSites> sites;
  std::size_t used = 0, cellsUsed = 0;
};

} // namespace kcheck::runtime
