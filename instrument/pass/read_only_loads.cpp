// Which reads go through the read-only cache besides those that say so: those by a kernel's parameter that is
// `__restrict__` and that the kernel does not write through, which compilers take for read-only memory.
#include "instrument/pass/call_graph.h"
#include "instrument/pass/own_arrays.h"
#include "instrument/pass/stages.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

namespace kcheck::instrument {

namespace {

std::uint32_t siteOf(const llvm::Instruction& read) {
  const auto* site = llvm::cast<llvm::ConstantInt>(llvm::cast<llvm::CallInst>(read).getArgOperand(3));
  return std::uint32_t(site->getZExtValue());
}

/// In the kernel's own text: what stands in a function is a read of other kernels' arrays too.
bool isInlined(const llvm::Instruction& read) {
  return read.getDebugLoc() && read.getDebugLoc().getInlinedAt();
}

bool isOnlyRead(const DeviceCode& code, const KernelCode& kernel, std::uint32_t offset) {
  if (std::ranges::find(kernel.written, offset) != kernel.written.end()) return false;
  for (unsigned number = 0; number < kernel.parameters.size(); ++number)
    if (kernel.parameters[number].offset == offset) return code.restricted.contains({kernel.symbol, number});
  return false;
}

void markReads(DeviceCode& code, KernelCode& kernel) {
  if (!(kernel.traits & abi::TraitWritesKnown)) return;
  OwnArrays arrays(code, kernel);
  for (llvm::Instruction& instruction : llvm::instructions(*kernel.entry)) {
    if (!isCallTo(instruction, Call::kcRead) || isInlined(instruction)) continue;
    SiteRow& site = code.sites[siteOf(instruction)];
    if (site.flags & abi::SiteVolatile) continue;
    const std::uint16_t number = arrays.numberOf(llvm::cast<llvm::CallInst>(instruction).getArgOperand(1));
    if (number && isOnlyRead(code, kernel, kernel.arrays[number - 1])) site.flags |= abi::SiteLoadNonCoherent;
  }
}

} // namespace

void findReadOnlyLoads(DeviceCode& code) {
  const CallGraph graph(code.module);
  for (KernelCode& kernel : code.kernels) markReads(code, kernel);
  for (KernelCode& kernel : code.kernels)
    for (llvm::Function* function : graph.reachable(*kernel.entry))
      for (const llvm::Instruction& instruction : llvm::instructions(*function))
        if (isCallTo(instruction, Call::kcRead) &&
            code.sites[siteOf(instruction)].flags & abi::SiteLoadNonCoherent)
          kernel.traits |= abi::TraitReadOnlyLoads;
}

} // namespace kcheck::instrument
