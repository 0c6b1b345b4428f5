// Which axes of the launch a kernel's own code looks at. A library's group of threads has a rank over all
// three axes, whatever the launch looks like: a kernel that asks for one and goes by threadIdx.x itself is a
// one-dimensional kernel.
#pragma once

#include <functional>

namespace llvm {
class Function;
} // namespace llvm

namespace kcheck::frontend {

/// Writes kOwnAxesAttribute on the kernel: what it and the functions that it calls read of the launch, those
/// of system headers left out. Before inlineWrappers, which mixes the two.
void noteOwnAxes(llvm::Function& kernel, const std::function<bool(const llvm::Function&)>& inSystemHeader);

} // namespace kcheck::frontend
