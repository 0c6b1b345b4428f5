// What a run has seen, as lines of text: to compare two runs of one program.
#pragma once

#include "instrument/instrument.h"

#include <string>
#include <vector>

namespace kcheck::instrument {

/// Findings with their accesses, values and counts, and metrics; sorted. `exact`: figures of kernels of very
/// many accesses too, which are sampled.
std::vector<std::string> linesOf(const Observation& seen, bool exact);

/// Of two sorted lists.
std::string onlyIn(const std::vector<std::string>& some, const std::vector<std::string>& others);

/// The file defines main().
bool hasMain(const std::string& path);

} // namespace kcheck::instrument
