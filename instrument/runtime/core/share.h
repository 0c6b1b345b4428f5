// One thread's share of a launch whose blocks several threads run side by side (crew.h). It has tokens, a
// log, a shared window and sums of its own; all shares enter what they do into one shadow. Each 128
// bytes of global memory belong to the share that comes to them first, for the rest of the launch, and no
// other one changes what the shadow says of them. What another share does there is looked at when all are
// done, unless it changes nothing.
//
// Whatever the fast way through the log cannot settle by tokens alone, and whatever has to be told, ends the
// share: the launch then starts again, run by one thread.
#pragma once

#include "instrument/runtime/core/row_log.h"

#include <optional>
#include <vector>

namespace kcheck::runtime {

class Crew;

class Share {
public:
  Share(Crew& crew, std::uint32_t number) : crew(crew), number(number) {}
  /// The launch, and what is its own of it.
  void prepare(const LaunchState& whole);
  /// Runs its blocks, and then some of the others'. On any thread.
  void run();
  /// When all of them have come to their end, one after the other: checks what has waited for that. False:
  /// it needs more than the fast way.
  bool settle();
  void addTo(LaunchState& whole);
  /// The shared window is to be laid out anew.
  void forgetWindow();
  /// Tokens that one block has taken, at most.
  Token mostTokens() const { return most; }

  // While it runs:
  std::optional<std::uint64_t> nextBlock();
  Token takeInterval(const BlockState& block);
  /// Checks a row of accesses to memory, and puts off what concerns other shares' lines. False: as
  /// RowCells::check().
  bool check(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
             const RowLanes& lanes, const RowClass& shape, const RowContents& contents);
  /// From device code or the scheduler; does not come back.
  [[noreturn]] void leave();

private:
  /// Lanes that have been at another share's lines.
  struct PutOff {
    RowWindow window;
    const abi::LoggedAccess* access;
    std::uint32_t lanes;
    Address at[kWarpSize]; ///< by position
  };
  static constexpr std::size_t kMostPutOff = 1u << 17;

  bool isWithin(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
                const RowClass& shape) const;
  bool takesRun(Address from, std::uint32_t bytes) const;
  bool takesPart(const Address* at, std::uint32_t count, std::uint32_t bytes, RowShape shape) const;
  bool takesAll(const abi::LoggedAccess& access, const Address* at, const RowLanes& lanes,
                const RowClass& shape) const;
  bool checkApart(const RowWindow& window, const abi::LoggedAccess& access, const Address* at,
                  const RowLanes& lanes, const RowContents& contents, std::uint32_t settled);
  bool checkSome(const RowWindow& window, const abi::LoggedAccess& access, Address* at, const RowLanes& lanes,
                 const RowContents& contents);

  Crew& crew;
  const std::uint32_t number;
  LaunchState launch;
  Epochs epochs;
  Token most = 0, blockBegan = 0;
  std::vector<PutOff> later;
};

/// The one that this thread runs now; null mostly.
Share* shareOfThread();

} // namespace kcheck::runtime
