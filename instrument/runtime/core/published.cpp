#include "instrument/runtime/core/published.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/state.h"

#include <algorithm>

namespace kcheck::runtime {

bool PublishedWords::isForHost(Address at) { return at >= kManagedBase && !inShared(at); }

void HostKnowledge::add(PublishedWords& published, Token first, std::uint32_t threads, bool inCompany) {
  if (published.empty()) return;
  std::lock_guard lock(mutex);
  const Epochs& epochs = context().epochs;
  if (inCompany && !launches.empty() && launches.back().first == first) { // more of the same
    Launch& told = launches.back();
    if (told.behind != epochs.now()) told.epochs = epochs;
    told.behind = epochs.now();
    for (const auto& [word, clock] : published.words) told.words[word].join(clock);
  } else {
    if (launches.size() == kRemembered) launches.pop_front();
    launches.push_back({first, epochs.now(), threads, epochs, std::move(published.words), {}});
  }
  published.clear();
}

void HostKnowledge::meet(Address begin, Address end) {
  std::lock_guard lock(mutex);
  for (Launch& launch : launches)
    for (const auto& [word, clock] : launch.words)
      if (word << 2 >= begin && word << 2 < end) launch.known.join(clock);
}

bool HostKnowledge::isPublished(Address at) const {
  std::lock_guard lock(mutex);
  return std::ranges::any_of(launches, [&](const Launch& launch) { return launch.words.contains(at >> 2); });
}

bool HostKnowledge::isOf(const Launch& launch, Token token) {
  constexpr Token severalBlocks = 2; // the launch's first tokens, which no thread has alone
  return token >= launch.first + severalBlocks && token < launch.behind;
}

bool HostKnowledge::talks(Token token) const {
  std::lock_guard lock(mutex);
  return std::ranges::any_of(launches, [&](const Launch& launch) { return isOf(launch, token); });
}

bool HostKnowledge::knows(Token token) const {
  token &= ~Token{1}; // that of an atomic operation
  std::lock_guard lock(mutex);
  return std::ranges::any_of(launches, [&](const Launch& launch) {
    if (!isOf(launch, token)) return false;
    const Owner owner = launch.epochs.ownerOf(token, launch.threads);
    return launch.known.covers(owner.block, owner.thread, token);
  });
}

void HostKnowledge::forget() {
  std::lock_guard lock(mutex);
  launches.clear();
}

} // namespace kcheck::runtime
