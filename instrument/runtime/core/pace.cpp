#include "instrument/runtime/core/pace.h"

#include "instrument/runtime/core/context.h"

namespace kcheck::runtime {

bool Pace::mayBeWorthIt(const LaunchState& launch) {
  if (context().options.eager) return true;
  if (pause) return --pause, false;
  constexpr double shortest = 1.5e6; ///< cycles
  constexpr std::uint64_t fewThreads = 4096;
  return cyclesOfBlock > 0 ? cyclesOf(launch) > shortest
                           : launch.gridBlocks * launch.blockThreads >= fewThreads;
}

bool Pace::isWorthCopying(const LaunchState& launch, std::size_t bytes) const {
  constexpr std::size_t most = std::size_t{1} << 30;
  constexpr double bytesPerCycle = 1, part = 0.25; ///< of the launch's cycles
  constexpr std::uint64_t bytesPerThread = 256;
  if (context().options.eager) return true;
  if (bytes > most) return false;
  return cyclesOfBlock > 0 ? double(bytes) < part * bytesPerCycle * cyclesOf(launch)
                           : bytes <= launch.gridBlocks * launch.blockThreads * bytesPerThread;
}

std::uint32_t Pace::usefulShares(const LaunchState& launch, std::uint32_t most) const {
  if (context().options.eager) return most;
  constexpr double cyclesEach = 0.5e6;
  constexpr std::uint64_t blocksEach = 2, threadsEach = 1024, fewest = 2;
  const std::uint64_t useful = cyclesOfBlock > 0 ? static_cast<std::uint64_t>(cyclesOf(launch) / cyclesEach)
                                                 : launch.gridBlocks * launch.blockThreads / threadsEach;
  const std::uint64_t byBlocks = std::max(fewest, launch.gridBlocks / blocksEach);
  return static_cast<std::uint32_t>(std::min({std::max(useful, fewest), byBlocks, std::uint64_t{most}}));
}

Token Pace::tokensOfBlock() const {
  constexpr Token unknown = 1u << 19;
  return tokens ? tokens : unknown;
}

void Pace::noteFailed() {
  constexpr std::uint32_t longest = 1u << 12;
  pause = nextPause;
  nextPause = std::min(2 * nextPause, longest);
}

} // namespace kcheck::runtime
