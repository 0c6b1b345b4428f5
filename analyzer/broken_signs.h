// Proofs that take sizes for not negative, or for powers of two, held against the launches of a run.
#pragma once

#include "report/program.h"
#include "report/report.h"

#include <optional>
#include <string>
#include <vector>

namespace kcheck::analyzer {

/// An assumption, and the argument that breaks it.
struct BrokenSign {
  std::string assumption;
  std::int64_t passed = 0;
};

/// Of what the proof takes for granted of sizes, something that an argument of the kernel's launches breaks.
std::optional<BrokenSign> brokenSign(const PropertyResult& property, const Kernel& kernel,
                                     const std::vector<Launch>& launches);

} // namespace kcheck::analyzer
