// What a block does in shared memory, which no other block can see: mostly the same as the block before it
// did, at the same addresses and between the same barriers. What was fine then is fine now, and leaves the
// cells as they were but for the tokens. So a block that goes on like the last one needs only to have its
// addresses compared; the cells are brought up to date when it does not (catchUp).
#pragma once

#include "instrument/runtime/core/row_cells.h"

#include <vector>

namespace kcheck::runtime {

class BlockPattern {
public:
  /// What is known of the accesses of one segment, of lanes that are together.
  struct Visit {
    const abi::LogSegment* segment;
    std::uint32_t mask, interval;                 ///< the number of the interval among those of the block
    Token warp;                                   ///< distance of its tokens from the interval's start
    bool counts;                                  ///< costs are part of it
    std::uint64_t settled;                        ///< the accesses to shared memory, by number in the segment
    std::uint32_t rows, rowsEnd, costs, costsEnd; ///< in `rows` and `costs`
  };
  struct Row {
    std::uint16_t number; ///< in the segment
    std::uint32_t place;  ///< in `addresses`
  };
  /// Of the accesses of a visit that cost the same.
  struct Cost {
    const abi::LoggedAccess* access;
    Address first;
    RequestCost request;
    std::uint32_t turns, lanes, times;
  };

  void beginLaunch(bool usable);
  void beginBlock(const LaunchState& launch, RowCells& cells);
  void endBlock();
  /// All visits so far are here to stay: the log of their warp has been checked.
  void endLog() { begun = at; }

  bool follows() const { return mode == Mode::Follows; }
  bool records() const { return mode == Mode::Records; }

  /// The visit that comes next, or null where the block has come to an end of what is known.
  const Visit* next(const RowWindow& window);
  bool isThis(const Visit& visit, const RowWindow& window, const abi::LogSegment& segment, std::uint32_t mask,
              bool counts) const;
  void pass() { ++at; }
  const Row* rowsOf(const Visit& visit) const { return rows.data() + visit.rows; }
  const Address* addressesOf(const Row& row) const { return addresses[row.place].at; }
  const Cost* costsOf(const Visit& visit) const { return costs.data() + visit.costs; }

  void record(const RowWindow& window, const abi::LogSegment& segment, std::uint32_t mask, bool counts);
  /// Of the visit that was recorded last.
  void recordAccess(std::uint32_t number, const abi::LoggedAccess& access, const Address* logged);
  void recordCost(const Cost& cost);

  /// The block does something else: the cells are brought up to the log's beginning, and are kept up to date
  /// from there on.
  void stray(const LaunchState& launch, RowCells& cells);
  /// The same, and nothing is known of the next block.
  void interrupt(const LaunchState& launch, RowCells& cells);
  /// An access of less than a word, which may leave cells in pieces: what is known does not hold of those.
  void meetPieces() { known = known && mode == Mode::Follows; }
  /// Not worth while in this launch, or not possible. Only of a block that does not follow.
  void giveUp();

private:
  enum class Mode : std::uint8_t { Off, Records, Follows };
  struct alignas(64) Addresses {
    Address at[kWarpSize];
  };
  Mode mode = Mode::Off;
  bool usable = false, known = false, inBlock = false;
  std::vector<Visit> visits;
  std::vector<Row> rows;
  std::vector<Addresses> addresses;
  std::vector<Cost> costs;
  std::size_t at = 0, begun = 0; ///< visits of the block so far, and those before the log that is looked at
  std::vector<Token> intervals;  ///< where those of the block start in which it was in shared memory
  RowWindow window{};            ///< the last one of the block
  std::uint32_t blocks = 0, strays = 0, straysInRow = 0;

  std::uint32_t intervalOf(const RowWindow& now);
  std::uint32_t placeOf(const Address* logged);
  void catchUp(const LaunchState& launch, RowCells& cells);
  void forget();
};

/// Equal addresses, those of a whole warp.
bool sameAddresses(const Address* a, const Address* b);
/// Where the accesses of a row lead, each lane's by itself.
struct Whereabouts {
  bool anyShared, allShared;
};
Whereabouts whereaboutsOf(const Address* at, std::uint32_t bytes);

} // namespace kcheck::runtime
