// How well each access site uses memory, by the profilers' definitions: the addresses of a warp's lanes at
// one site and occurrence make a row, and a row is one request. Logged thread by thread, evaluated when the
// interval ends.
#pragma once

#include "instrument/runtime/core/state.h"

namespace kcheck::runtime {

void prepareMetrics(BlockState& room);
void logAccess(ThreadState& thread, Address address, std::uint64_t bytes, std::uint32_t site);
/// All threads of the block have come to the interval's end.
void endInterval(BlockState& block);
/// Writes the launch's sums into the log.
void flushMetrics(LaunchState& launch);

} // namespace kcheck::runtime
