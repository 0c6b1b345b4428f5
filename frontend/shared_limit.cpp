#include "frontend/shared_limit.h"

#include <fmt/format.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

namespace kcheck::frontend {
namespace {

constexpr unsigned kShared = 3;
constexpr std::uint64_t kMostBytes = 48 * 1024; // of every architecture

/// What a kernel comes to: functions that it calls, or whose address it holds, and variables.
class Used {
public:
  explicit Used(const llvm::Function& kernel) { functions.insert(&kernel); }

  std::uint64_t sharedBytes(const llvm::DataLayout& layout) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < functions.size(); ++i)
      for (const llvm::Instruction& instruction : llvm::instructions(*functions[i]))
        for (const llvm::Use& operand : instruction.operands())
          if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&operand))
            bytes += bytesOf(*constant, layout);
    return bytes;
  }

private:
  std::uint64_t bytesOf(const llvm::Constant& constant, const llvm::DataLayout& layout) {
    if (!seen.insert(&constant).second) return 0;
    if (const auto* function = llvm::dyn_cast<llvm::Function>(&constant)) {
      if (!function->isDeclaration()) functions.insert(function);
      return 0;
    }
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&constant)) {
      const bool isFixed = variable->getAddressSpace() == kShared && !variable->isDeclaration();
      return isFixed ? layout.getTypeAllocSize(variable->getValueType()).getFixedValue() : 0;
    }
    std::uint64_t bytes = 0;
    for (const llvm::Use& operand : constant.operands())
      if (const auto* part = llvm::dyn_cast<llvm::Constant>(&operand)) bytes += bytesOf(*part, layout);
    return bytes;
  }

  llvm::SetVector<const llvm::Function*> functions;
  llvm::SmallPtrSet<const llvm::Constant*, 32> seen;
};

} // namespace

std::optional<Error> tooMuchShared(const llvm::Module& device, const Facts& facts) {
  for (const Kernel& kernel : facts.kernels) {
    const llvm::Function* function = device.getFunction(kernel.symbol);
    if (!function) continue;
    const std::uint64_t bytes = Used(*function).sharedBytes(device.getDataLayout());
    if (bytes <= kMostBytes) continue;
    return Error{
        fmt::format("{}:{}: `{}` has {} bytes of shared arrays, of which a kernel may have {}; more there is "
                    "only as dynamic shared memory (`extern __shared__`), with cudaFuncSetAttribute",
                    kernel.where.file, kernel.where.line, kernel.name, bytes, kMostBytes)};
  }
  return std::nullopt;
}

} // namespace kcheck::frontend
