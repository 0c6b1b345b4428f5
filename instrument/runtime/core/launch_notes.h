// Which launches the program made, for the report and for the static pass: each shape once with a count, and
// the ways in which a kernel was launched, arguments included.
#pragma once

#include "instrument/runtime/core/state.h"

namespace kcheck::runtime {

/// Writes down a launch that is about to run.
void noteLaunch(const LaunchState& launch);

} // namespace kcheck::runtime
