// What is known of a kernel's launches, and what follows for the next one: whether it is worth running on
// several processors (crew.h), on how many, and how many tokens a block may need.
#pragma once

#include "instrument/runtime/core/state.h"

#include <algorithm>

namespace kcheck::runtime {

class Pace {
public:
  /// Before a look at its memory.
  bool mayBeWorthIt(const LaunchState& launch);
  /// Whether so much memory is worth copying.
  bool isWorthCopying(const LaunchState& launch, std::size_t bytes) const;
  /// Each share costs some microseconds to call, and a pair of blocks is the least that it should do.
  std::uint32_t usefulShares(const LaunchState& launch, std::uint32_t most) const;
  Token tokensOfBlock() const;

  void noteCycles(const LaunchState& launch, double cycles) {
    cyclesOfBlock = cycles / double(launch.gridBlocks);
  }
  void noteTokens(Token ofOneBlock) { tokens = std::max(tokens, ofOneBlock); }
  void noteDone() { nextPause = 1; }
  /// An attempt has come to nothing: some launches are left to one thread, and more of them each time.
  void noteFailed();

private:
  double cyclesOf(const LaunchState& launch) const { return cyclesOfBlock * double(launch.gridBlocks); }

  double cyclesOfBlock = 0; ///< 0: nothing is known
  Token tokens = 0;         ///< the same
  std::uint32_t pause = 0;  ///< launches to be left to one thread
  std::uint32_t nextPause = 1;
};

} // namespace kcheck::runtime
