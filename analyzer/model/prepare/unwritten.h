// Which locals a kernel may read before it has written them. Scalar promotion is free to take any value for
// such a read, so the question is asked around it: first each local gets a mark as its content, promotion
// carries the marks to where they are read, and at last they are taken out again.
#pragma once

#include "report/location.h"

#include <optional>
#include <string>

namespace llvm {
class Function;
} // namespace llvm

namespace kcheck::analyzer {

/// Why it is not certain that every local is written before it is read.
struct UnwrittenDoubt {
  Location where;
  std::string what; ///< "`v` may be read before it is written"
};

/// Marks the locals of the kernel: before promotion, and again when more has been inlined.
void markLocals(llvm::Function& kernel, std::optional<UnwrittenDoubt>& doubt);

/// Takes the marks out, after promotion, and looks at what reads them.
void takeMarks(llvm::Function& kernel, std::optional<UnwrittenDoubt>& doubt);

} // namespace kcheck::analyzer
