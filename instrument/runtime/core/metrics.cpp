#include "instrument/runtime/core/metrics.h"

namespace kcheck::runtime {
void prepareMetrics(BlockState&) {}
void logAccess(ThreadState&, Address, std::uint64_t, std::uint32_t) {}
void endInterval(BlockState&) {}
void flushMetrics(LaunchState&) {}
} // namespace kcheck::runtime
