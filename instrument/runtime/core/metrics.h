// How well each access site uses memory, by the profilers' definitions (metric_log.h). Logged thread by
// thread, added up whenever all lanes of a warp have come to a wait.
#pragma once

#include "instrument/runtime/core/state.h"

namespace kcheck::runtime {

inline void logAccess(AccessLog& log, const ThreadState& thread, Address address, std::uint64_t bytes,
                      std::uint32_t site) {
  if (!inArena(address)) return;
  for (; bytes > 16; bytes -= 16, address += 16) log.add(thread.lane, address, 16, site); // copies of objects
  log.add(thread.lane, address, static_cast<std::uint32_t>(bytes), site);
}

/// All lanes of the running warp have come to a wait.
void addUpWarp(LaunchState& launch);
/// Writes the launch's sums into the log.
void flushMetrics(LaunchState& launch);

/// Counts `times` requests of a site, each of so many lanes with so many bytes, where a whole warp would be
/// `slots` lanes; `turns` are an atomic's. `example`: an address of it. `weight` is above 1 when accesses
/// were lost.
void addTraffic(SiteTraffics& traffic, std::uint32_t slots, std::uint32_t site, Address example,
                const RequestCost& cost, std::uint32_t turns, std::uint32_t lanes, std::uint32_t bytes,
                double weight, std::uint32_t times = 1);
/// Adds what has been counted elsewhere, which is nothing afterwards.
void moveTraffic(SiteTraffics& from, SiteTraffics& to);
/// The lanes of the launch's whole warps.
std::uint32_t slotsOf(const LaunchState& launch);

} // namespace kcheck::runtime
