// Votes and shuffles without a mask (`__ballot`, `__shfl`), which end with sm_60: what nvcc refuses.
#pragma once

#include "report/error.h"

#include <optional>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace kcheck::frontend {

/// Of the first place that has one, where `arch` (sm_80) no longer does.
std::optional<Error> oldCollective(const llvm::Module& device, const std::string& arch);

} // namespace kcheck::frontend
