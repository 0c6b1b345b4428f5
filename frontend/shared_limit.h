// How many bytes of shared arrays a kernel may have whose sizes the source fixes: more, nvcc refuses.
#pragma once

#include "report/error.h"
#include "report/program.h"

#include <optional>

namespace llvm {
class Module;
} // namespace llvm

namespace kcheck::frontend {

/// Of the first kernel that has more, with what it calls.
std::optional<Error> tooMuchShared(const llvm::Module& device, const Facts& facts);

} // namespace kcheck::frontend
