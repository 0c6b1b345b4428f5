#include "instrument/pass/own_arrays.h"

#include "instrument/pass/stages.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace kcheck::instrument {

namespace {

constexpr std::size_t kMostValues = 64; ///< looked at for one address

/// Offset in the kernel's arguments of the pointer that is loaded from there.
std::optional<std::uint32_t> argumentOf(const llvm::Value* pointer, const KernelCode& kernel,
                                        const llvm::DataLayout& layout) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(pointer);
  if (!load || !load->isSimple()) return std::nullopt;
  llvm::APInt offset(64, 0);
  const llvm::Value* base =
      load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
  if (base != kernel.entry->getArg(1) || offset.uge(kernel.argumentBytes)) return std::nullopt;
  return std::uint32_t(offset.getZExtValue());
}

} // namespace

/// Neither a difference of pointers nor anything else that is made of one goes into the value. What comes
/// from memory or a call counts as a number.
bool OwnArrays::isNumber(const llvm::Value* value) {
  if (auto known = numbers.find(value); known != numbers.end()) return known->second;
  std::vector<const llvm::Value*> pending{value};
  std::set<const llvm::Value*> seen;
  bool isNumber = true;
  while (isNumber && !pending.empty()) {
    const llvm::Value* one = pending.back();
    pending.pop_back();
    const auto* user = llvm::dyn_cast<llvm::User>(one);
    if (!user || !seen.insert(one).second || llvm::isa<llvm::LoadInst, llvm::CallBase>(one)) continue;
    isNumber = seen.size() <= kMostValues && !llvm::isa<llvm::PtrToIntOperator>(one);
    if (llvm::isa<llvm::CmpInst>(one)) continue;
    pending.insert(pending.end(), user->value_op_begin(), user->value_op_end());
  }
  return numbers[value] = isNumber;
}

std::uint16_t OwnArrays::numberOf(const llvm::Value* address) {
  const llvm::DataLayout& layout = code.module.getDataLayout();
  std::optional<std::uint32_t> found;
  std::vector<const llvm::Value*> pending{address};
  std::set<const llvm::Value*> seen;
  while (!pending.empty()) {
    const llvm::Value* one = pending.back()->stripPointerCasts();
    pending.pop_back();
    if (!seen.insert(one).second) continue;
    if (seen.size() > kMostValues) return 0;
    if (const auto* element = llvm::dyn_cast<llvm::GEPOperator>(one)) {
      if (!std::all_of(element->idx_begin(), element->idx_end(),
                       [&](const llvm::Use& index) { return isNumber(index); }))
        return 0;
      pending.push_back(element->getPointerOperand());
    } else if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(one)) {
      pending.insert(pending.end(), phi->value_op_begin(), phi->value_op_end());
    } else if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(one)) {
      pending.push_back(choice->getTrueValue());
      pending.push_back(choice->getFalseValue());
    } else {
      const std::optional<std::uint32_t> argument = argumentOf(one, kernel, layout);
      if (!argument || (found && *found != *argument)) return 0;
      found = argument;
    }
  }
  if (!found) return 0;
  auto known = std::find(kernel.arrays.begin(), kernel.arrays.end(), *found);
  if (known == kernel.arrays.end()) {
    if (kernel.arrays.size() + 1 >= std::numeric_limits<std::uint16_t>::max()) return 0;
    known = kernel.arrays.insert(known, *found);
  }
  return std::uint16_t(known - kernel.arrays.begin() + 1);
}

void nameOwnArrays(DeviceCode& code) {
  if (!code.options.checks) return;
  for (KernelCode& kernel : code.kernels) {
    OwnArrays arrays(code, kernel);
    for (llvm::Instruction& instruction : llvm::instructions(*kernel.entry)) {
      if (!isCallTo(instruction, Call::kcRead) && !isCallTo(instruction, Call::kcWrite) &&
          !isCallTo(instruction, Call::kcAtomic))
        continue;
      auto& hook = llvm::cast<llvm::CallInst>(instruction);
      const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(hook.getArgOperand(2));
      if (!bytes || bytes->getZExtValue() >> abi::kArrayShift) continue;
      const std::uint64_t number = arrays.numberOf(hook.getArgOperand(1));
      hook.setArgOperand(
          2, llvm::ConstantInt::get(bytes->getType(), bytes->getZExtValue() | number << abi::kArrayShift));
    }
  }
}

} // namespace kcheck::instrument
