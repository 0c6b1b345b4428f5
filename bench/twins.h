// The kernels of bench/kernels.cu twice in this process: with all checks, and the same code through the same
// stages without any. What a launch of one costs against the other is the price of the checks.
#pragma once

#include "instrument/abi.h"
#include "report/error.h"

#include <string>
#include <vector>

namespace kcheck::bench {

struct Twins {
  const abi::KernelEntry* checked = nullptr;
  const abi::KernelEntry* unchecked = nullptr;
};

/// Compiles `source` and loads both forms. Call once.
OrError<std::monostate> loadTwins(const std::string& source);

/// Both forms of a kernel, by its name in the source.
Twins twinsOf(const std::string& kernel);

} // namespace kcheck::bench
