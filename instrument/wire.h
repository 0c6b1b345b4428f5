// How the runtime in the checked program tells kcheck what it saw: an append-only log of fixed-size records
// in a file that both processes map, so that a crash, an abort or a kill of the program loses nothing that
// was written. Owned by runtime/core (writer) and pass/collect.cpp (reader).
#pragma once

#include <cstdint>

namespace kcheck::wire {

inline constexpr const char* kDescriptorVariable =
    "KCHECK_REPORT_FD"; ///< environment: number of the inherited file

} // namespace kcheck::wire
