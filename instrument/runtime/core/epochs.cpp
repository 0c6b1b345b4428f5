#include "instrument/runtime/core/epochs.h"

#include <algorithm>
#include <cassert>

namespace kcheck::runtime {

Owner Epochs::ownerOf(Token token, std::uint32_t threads) const {
  assert(token >= entries.front().first && "a token of this launch has an owner");
  std::size_t step = std::min<std::size_t>((token - entries.front().first) / kStep, starts.size() - 1);
  auto low = entries.begin() + starts[step],
       high = step + 1 < starts.size() ? entries.begin() + starts[step + 1] + 1 : entries.end();
  auto after = std::upper_bound(low, high, token,
                                [](Token wanted, const Epoch& epoch) { return wanted < epoch.first; });
  const Epoch& epoch = *(after - 1);
  std::uint32_t thread = (token - epoch.first) / 2;
  if (epoch.thread != kWholeBlock) {
    bool ofWarp = epoch.thread & kWarpEpoch;
    return {epoch.block, ofWarp ? (epoch.thread & ~kWarpEpoch) * 32 + thread : epoch.thread, epoch.first,
            epoch.first + (ofWarp ? 64u : 2u)};
  }
  if (!blockSizes.empty()) {
    const std::uint64_t launch = epoch.block >> kLaunchShift;
    const bool isBlock = (epoch.block & kLaunchItself) != kLaunchItself;
    threads = isBlock && launch < blockSizes.size() ? blockSizes[launch] : 0;
  }
  return {epoch.block, thread < threads ? thread : kWholeBlock, epoch.first, epoch.first + 2 * threads, true};
}

void Epochs::beginCompany(Token first, std::uint32_t threads) {
  std::vector<Epoch> before = std::move(entries);
  forgetOwners();
  const Token now = next;
  next = first;
  enter(kWholeBlock, operationBlock(0));
  for (const Epoch& epoch : before) {
    next = epoch.first;
    enter(epoch.thread, epoch.block);
  }
  next = now;
  blockSizes = {threads};
}

} // namespace kcheck::runtime
