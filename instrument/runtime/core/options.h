// What steers a run: words in the environment variable KCHECK_OPTIONS, `schedule=lockstep,seed=7`.
#pragma once

#include <cstdint>
#include <string_view>

namespace kcheck::runtime {

enum class ScheduleKind : std::uint8_t { Fair, Lockstep, Random };

struct RuntimeOptions {
  ScheduleKind schedule = ScheduleKind::Fair;
  std::uint64_t seed = 0;
  unsigned jobs = 1;  ///< processors to use (crew.h)
  bool eager = false; ///< all of them, however small a launch is
  bool metrics = true;
  bool races = true;
  bool twice = true;      ///< rehearsal.h
  bool hostAccess = true; ///< watch the host's own accesses to device and managed memory
};

/// Unknown words are left out: an older runtime may meet a newer kcheck.
RuntimeOptions parseOptions(std::string_view words);

} // namespace kcheck::runtime
