// Proofs that take sizes and steps for positive, or not negative, held against the launches of a run.
#pragma once

#include "report/program.h"
#include "report/report.h"

#include <string>
#include <vector>

namespace kcheck::analyzer {

/// Those of the proof's assumptions on signs that an argument of the kernel's launches breaks. Of a value of
/// host code it is not known which argument it led to: any integer may have been it.
std::vector<std::string> brokenSigns(const PropertyResult& property, const Kernel& kernel,
                                     const std::vector<Launch>& launches);

} // namespace kcheck::analyzer
