#include "instrument/runtime/core/epochs.h"

#include <algorithm>
#include <cassert>

namespace kcheck::runtime {

Owner Epochs::ownerOf(Token token, std::uint32_t threads) const {
  // Most tokens asked for are young: in steps that double, from the end.
  auto low = entries.end();
  for (std::ptrdiff_t step = 1; low != entries.begin() && (low == entries.end() || token < low->first);
       step *= 2)
    low -= std::min(step, low - entries.begin());
  auto after = std::upper_bound(low, entries.end(), token,
                                [](Token wanted, const Epoch& epoch) { return wanted < epoch.first; });
  assert(after != entries.begin() && "a token of this launch has an owner");
  const Epoch& epoch = *(after - 1);
  std::uint32_t thread = (token - epoch.first) / 2;
  if (epoch.thread != kWholeBlock) {
    bool ofWarp = epoch.thread & kWarpEpoch;
    return {epoch.block, ofWarp ? (epoch.thread & ~kWarpEpoch) * 32 + thread : epoch.thread, epoch.first};
  }
  return {epoch.block, thread < threads ? thread : kWholeBlock, epoch.first};
}

} // namespace kcheck::runtime
