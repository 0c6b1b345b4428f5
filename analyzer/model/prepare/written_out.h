// A kernel as one launch runs it, for questions that its loops leave open.
#pragma once

#include "analyzer/model/model_builder.h"

namespace kcheck::analyzer {

/// A copy in the same module with the launch's numbers in place and its short loops written out round by
/// round: who waits for whom there differs from round to round, as in a sorting network whose last steps a
/// warp does by itself. Nothing where there is no such loop, or too much of it.
std::optional<KernelCode> writtenOut(const KernelCode& code, const LaunchCase& launch);

/// A copy in the same module: places and variables are those of the kernel itself.
llvm::Function* copyOf(llvm::Function& kernel);

} // namespace kcheck::analyzer
