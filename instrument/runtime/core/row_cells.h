// The shadow side of rows.h: one logged access of many lanes against the cells, all or nothing per row. What
// is changed can be undone until commit().
#pragma once

#include "instrument/runtime/core/row_series.h"
#include "instrument/runtime/core/rows.h"

namespace kcheck::runtime {

/// What a row's check needs of its block: copies, so that loops keep them in registers.
struct RowWindow {
  Token floor, ordered, born, interval, many, launchMany, first;
  bool ownTokensOrdered; ///< all tokens in [born, interval) are known to come before
  Token me;              ///< of the warp's first lane; lane n has me + 2n
  RowWindow() = default;
  explicit RowWindow(const BlockState& block, const ThreadState* lanes);
  Token of(std::uint32_t lane) const { return me + 2 * lane; }
};

/// What the lanes of a row have found in memory where they write; nothing where the log is gone.
struct RowContents {
  const std::uint64_t* segment = nullptr; ///< in the log
  const std::uint16_t* begin = nullptr;   ///< of each lane, so many rows behind that; null: all there
  std::uint32_t row = 0;                  ///< of the segment
  /// From a byte of the lane's access on, eight bytes or fewer.
  std::uint64_t at(std::uint32_t lane, Address offset) const {
    const std::size_t rows = std::size_t{begin ? begin[lane] : 0u} + row + offset / 8;
    return segment[rows * abi::kLogLanes + lane] >> 8 * (offset % 8);
  }
};

class RowCells {
public:
  /// True when the access of all lanes comes after everything that conflicts with it, by tokens alone, and is
  /// entered into the cells. False: nothing is known, and some cells may have been changed.
  bool check(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
             const RowLanes& lanes, const RowClass& row, const RowContents& contents);
  enum class SeriesCheck : std::uint8_t {
    Settled, ///< all of them are as check() says when it is true
    Apart,   ///< nothing is known, and nothing changed: they have to be looked at one by one
    Failed   ///< as when check() is false
  };
  /// All reads of a series at once. `at`: the logged addresses.
  SeriesCheck checkSeries(const RowWindow& window, const RowSeries& series, const Address* at,
                          const RowLanes& lanes, const RowClass& row);
  RowCells();
  ~RowCells();
  void commit();
  void undo();

private:
  void undoLast();
  /// What was there before a change. Of one cell it is `cell`, and `sites` where those are changed too;
  /// `cells` of a run, a line and the cells of many lanes are stored from index `cell.write` on.
  /// `Byte` is the cell of one byte of an expanded word, and `Expanded` the word's before that.
  enum class What : std::uint32_t { Cell, CellAndSites, Run, Reads, Line, Lanes, Byte, Expanded };
  struct Saved {
    Address address;
    Cell cell;
    CellSites sites;
    std::uint16_t count; ///< of a run
    What what;
  };
  void reserve(); ///< room for all cells of one row, and for those of lines that it opens
  void saveRun(Address address, std::uint32_t count);
  void saveReads(Address address, std::uint32_t count);
  void saveLine(Address address, const Line& line);
  void open(Address address); ///< the closed line
  struct Lanes;               // cells of 32 lanes, wherever they lie

  bool checkRun(const RowWindow& window, const abi::LoggedAccess& access, Address address, std::uint32_t lane,
                std::uint32_t lanes);
  struct Run; // of words that lanes access one behind the other
  void noteOwn(const RowWindow& window, const Run& run, Address from, const Cell* were,
               const CellSites* sites, std::uint32_t count) const;
  bool checkCells(const RowWindow& window, const Run& run, Address from, Address to);
  bool checkLine(const RowWindow& window, const Run& run, Address at, bool whole);
  bool closeLine(const RowWindow& window, const Run& run, Address at);
  bool checkSame(const RowWindow& window, const RowSeries& series, Address address, const std::uint8_t* lane,
                 std::uint32_t count);
  bool checkEach(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                 const std::uint8_t* lane, std::uint32_t count, std::uint32_t first);
  template <abi::SiteKind kind, bool shared, std::uint32_t width>
  bool checkLanes(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                  const std::uint8_t* lane, std::uint32_t count, std::uint32_t first);
  template <abi::SiteKind kind>
  bool checkFew(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                const std::uint8_t* lane, std::uint32_t count);
  template <abi::SiteKind kind, bool shared, std::uint32_t width>
  bool checkWords(const RowWindow& window, const Address* at, Address offset, const std::uint8_t* lane,
                  std::uint32_t count, std::uint32_t first, std::uint16_t site);
  bool checkBytes(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                  const std::uint8_t* lane, std::uint32_t count);
  template <abi::SiteKind kind>
  bool checkBytesOfEach(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                        const std::uint8_t* lane, std::uint32_t count);
  template <abi::SiteKind kind, bool shared>
  bool checkBytesOf(const RowWindow& window, Token me, Address at, std::uint32_t bytes, std::uint16_t site);
  template <abi::SiteKind kind> void change(Lanes& lanes, std::uint32_t mask, std::uint16_t site);
  void keep(Lanes& lanes, std::uint32_t changed, bool withSites);
  template <bool shared>
  bool writeWords(const RowWindow& window, const Address* at, Address offset, const std::uint8_t* lane,
                  std::uint32_t count, std::uint16_t site);
  template <abi::SiteKind kind, bool shared>
  bool checkCell(const RowWindow& window, Token me, Address at, std::uint16_t site);
  template <abi::SiteKind kind> void change(Address at, Cell to, bool entersSite, std::uint16_t site);
  static bool keepsAll(const RowWindow& window, Address address, std::uint32_t bytes);
  /// A lane writes where it has written last, from `site`: all of a word, or one byte.
  void noteOwn(const RowWindow& window, Token me, Address at, std::uint16_t site, unsigned bytes) const;
  bool checkPart(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                 const std::uint8_t* lane, std::uint32_t count, RowShape shape, std::uint32_t first);

  std::vector<Saved> saved;
  std::vector<Cell> cells;
  std::vector<CellSites> sites;
  std::vector<Line> lines;
  std::vector<Lanes> rows;
  std::size_t used = 0, cellsUsed = 0, linesUsed = 0, rowsUsed = 0;
  bool bytesUsed = false; ///< some of `saved` are bytes
  // Of the access that is being checked.
  RowContents contents;
  std::uint32_t accessBytes = 0;
};

} // namespace kcheck::runtime
