// Races between bit-fields that share a word say so: the source shows two members and no overlap.
#pragma once

#include "report/finding.h"

#include <vector>

namespace kcheck {

/// Words the races between different bit-fields. A write of one reads the word around it and writes all of it
/// back, and C++ counts neighbouring bit-fields as one place in memory. The accesses' sites are known.
void wordBitFields(std::vector<Finding>& findings, const Facts& facts);

} // namespace kcheck
