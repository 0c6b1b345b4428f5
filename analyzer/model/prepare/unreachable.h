// Ways that the program says are never taken: `__builtin_unreachable()`, the default of a `switch` over all
// values.
#pragma once

namespace llvm {
class Function;
}

namespace kcheck::analyzer {

/// Takes them out, so that no barrier seems to be left out there. What a branch decided is assumed instead.
void dropUnreachableWays(llvm::Function& kernel);

} // namespace kcheck::analyzer
