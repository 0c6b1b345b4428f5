// Pointers that walk through a table of the kernel's own, as places in it.
#pragma once

namespace llvm {
class Function;
}

namespace kcheck::analyzer {

/// `for (int* q = at; q < at + 4; ++q)` counts in bytes of `at` then, as `for (i < 4) at[i]` does.
void countWalkers(llvm::Function& kernel);

} // namespace kcheck::analyzer
