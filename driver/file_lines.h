// Options that a source file carries in comments of its own: `// kcheck: OPTIONS`, `// launch:
// k<<<..>>>(..)`, and GPUVerify's first line `//--blockDim=64 --gridDim=64`.
#pragma once

#include <istream>
#include <string>
#include <vector>

namespace kcheck::driver {

struct FileLines {
  std::vector<std::string> arguments; ///< as if they stood on the command line, before the user's own
  std::vector<std::string> launches;
};

FileLines readFileLines(std::istream& source);

/// Splits at blanks; single and double quotes keep blanks.
std::vector<std::string> splitWords(const std::string& text);

} // namespace kcheck::driver
