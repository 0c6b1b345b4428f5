// The runtime's one context: what lives as long as the program. Made on first use and never destroyed,
// because exit handlers of the checked program still call in.
#pragma once

#include "instrument/abi.h"
#include "instrument/runtime/core/allocations.h"
#include "instrument/runtime/core/epochs.h"
#include "instrument/runtime/core/launch.h"
#include "instrument/runtime/core/options.h"
#include "instrument/runtime/core/published.h"
#include "instrument/runtime/core/streams.h"

#include <map>
#include <mutex>
#include <unordered_set>
#include <vector>

namespace kcheck::runtime {

struct LaunchState;

/// The host's variable that stands for one of the device in host code.
struct HostCopy {
  std::size_t bytes = 0;
  const char* symbol = nullptr; ///< the device's
};

struct Context {
  RuntimeOptions options;
  std::mutex mutex; ///< over allocations
  Allocations allocations;
  std::map<std::uintptr_t, std::size_t> registeredHost; ///< bytes by start
  std::map<std::uintptr_t, HostCopy> hostCopies;        ///< by start
  Epochs epochs;
  Streams streams;
  HostKnowledge hostKnows;
  std::vector<const abi::ModuleEntry*> modules;
  std::unordered_set<const void*> callees; ///< device functions that pointers may lead to
  LaunchState* launch = nullptr;           ///< the one that runs now
  std::uint64_t timeAhead = 0;             ///< nanoseconds by which the device's clock has been put forward
  DeviceFault fault = DeviceFault::None;
  bool askew = false; ///< an access of a launch that is over was misaligned, and nobody has asked
  std::uint32_t readSetsUsed =
      0; ///< numbers of read sets that the shadow may hold (LaunchState::firstReadSet)
  std::uint32_t windowsUsed = 0;  ///< shared windows that have a block's room
  std::uint64_t clockEntries = 0; ///< looked at so far to bring clocks together

  const abi::SiteInfo* site(std::uint32_t number) const;
};

Context& context();

} // namespace kcheck::runtime
