// Content of memory as values.
#pragma once

#include "report/finding.h"

#include <cstdint>
#include <string>

namespace kcheck::instrument {

/// Where the type of a value is not known the likeliest reading is taken, one for all values that a finding
/// shows of one place.
bool looksReal(std::uint64_t content, unsigned bytes);

/// Content of memory as a value.
std::string valueText(std::uint64_t content, unsigned bytes, ValueType type);

} // namespace kcheck::instrument
