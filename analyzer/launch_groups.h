// Several launches of one kernel taken as one.
#pragma once

#include "report/program.h"

#include <vector>

namespace kcheck::analyzer {

/// Two of its pointers lead into one buffer.
bool passesTwice(const Launch& launch);

/// Least, most and common step of values; none where one is not known.
std::optional<PassedValue::Range> rangeOf(const std::vector<std::optional<std::int64_t>>& values);

/// One launch that stands for all: what differs among them is any of what it was, or anything. None where
/// their blocks differ, or one passes a buffer twice.
std::optional<Launch> joinedLaunch(const std::vector<const Launch*>& launches);

} // namespace kcheck::analyzer
