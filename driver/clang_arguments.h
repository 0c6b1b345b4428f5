// Compiler options as nvcc and clang spell them (-I DIR, -IDIR, -std=c++20, -include FILE, ...), taken out of
// the command line before the option parser sees it: its options are GNU style and cannot be spelt so.
#pragma once

#include "report/error.h"

#include <vector>

namespace kcheck::driver {

struct SplitArguments {
  std::vector<std::string> compiler; ///< in clang's spelling
  std::vector<std::string> linker;   ///< -l, -L
  std::vector<std::string> own;      ///< the rest, up to `--`
  std::vector<std::string> program;  ///< after `--`
};

OrError<SplitArguments> splitArguments(const std::vector<std::string>& arguments);

} // namespace kcheck::driver
