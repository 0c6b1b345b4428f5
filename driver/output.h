// Writes reports to their places. A file appears whole or not at all: it is written beside its final name and
// renamed.
#pragma once

#include "driver/options.h"

namespace kcheck::driver {

/// The folder for temporary files ($TMPDIR, else /tmp) must take files; both clang and the run need it.
OrError<std::monostate> checkTemporaryFolder();

/// Fails early when an output file could not be made, so that no long run is lost for it.
OrError<std::monostate> checkOutputs(const std::vector<Output>& outputs);
OrError<std::monostate> writeOutputs(const Report& report, const Options& options);

} // namespace kcheck::driver
