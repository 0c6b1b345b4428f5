// Which of the kernel's pointers an address is made of: the array that it points to is the one that the
// access belongs in, wherever it lands.
#pragma once

#include "instrument/pass/device_code.h"

namespace llvm {
class DataLayout;
class Value;
} // namespace llvm

namespace kcheck::instrument {

class OwnArrays {
public:
  OwnArrays(const DeviceCode& code, KernelCode& kernel) : code(code), kernel(kernel) {}

  /// The number of the one pointer among the kernel's arguments that `address` is counted from, from 1 on:
  /// see abi::KernelEntry::arrays. 0 where there may be others, or the distance may come from other pointers.
  std::uint16_t numberOf(const llvm::Value* address);

private:
  const DeviceCode& code;
  KernelCode& kernel;
  std::map<const llvm::Value*, bool> numbers; ///< that are made of no pointer

  bool isNumber(const llvm::Value* value);
};

} // namespace kcheck::instrument
