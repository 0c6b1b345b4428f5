// Starts a program, takes what it prints, and ends it when it takes too long.
#pragma once

#include <string>
#include <vector>

namespace kcheck::expectations {

struct ChildResult {
  int status = -1;       ///< exit status, or 128 + signal
  bool timedOut = false; ///< it was killed, with everything that it had started
  std::string output;    ///< stdout and stderr together
};

ChildResult runChild(const std::vector<std::string>& command, double seconds);

} // namespace kcheck::expectations
