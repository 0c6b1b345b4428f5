// Options that nvcc takes and kcheck has no use for, or takes in its own way: what a build passes to nvcc can
// be passed to kcheck, but for -o, which names the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kcheck::driver {

struct NvccOption {
  std::vector<std::string> own;      ///< in place of it: kcheck's options
  std::vector<std::string> compiler; ///< and clang's
  unsigned arguments = 1;            ///< how many of the command line it is
};

/// The option that begins at `at`; nothing where it is none of nvcc's, or its value is missing.
std::optional<NvccOption> nvccOption(const std::vector<std::string>& arguments, std::size_t at);

} // namespace kcheck::driver
