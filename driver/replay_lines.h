// Launch lines (frontend/launch_line.h) by which kernels of a file without main are replayed.
#pragma once

#include "analyzer/analyzer.h"
#include "report/location.h"
#include "report/program.h"

#include <cstdint>
#include <string>

namespace kcheck::driver {

/// What is tried: a number for all numbers, and whether arrays hold numbers from 0 to 3, or, for which the
/// kernel looks for a number, that one, or others as well.
struct Attempt {
  std::uint64_t number = 0;
  bool isMixed = false, isSought = false, isAny = false;
};

struct Shape {
  Dim3 grid, block;
};

/// As --launch takes it. Numbers that the program's own launch passes are kept.
std::string launchLineFor(const Kernel& kernel, const Launch& known, const Shape& shape, std::uint64_t shared,
                          const Attempt& attempt, const analyzer::WantedContents& wanted);

} // namespace kcheck::driver
