// Reads back what the runtime of a checked program wrote into the log (wire.h): findings with plain messages,
// metrics, launches. Tolerates a log that ends in the middle: the program may have been killed at any time.
#pragma once

#include "instrument/instrument.h"

#include <cstddef>
#include <functional>
#include <span>

namespace kcheck::instrument {

/// The source place of a byte offset in an executable or library; unknown when there is none.
using Symbolise = std::function<Location(const std::string& path, std::uint64_t offset)>;

/// The log as bytes. `run` in the result has the launches; how the process ended is the caller's to fill in.
Observation collect(std::span<const std::byte> log, const Facts& facts, const Symbolise& symbolise);

/// The log behind a file descriptor; places by the program's debug information.
Observation collect(int descriptor, const Facts& facts);

} // namespace kcheck::instrument
