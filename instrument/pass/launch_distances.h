// Distances between addresses that are the same for all threads of a launch: of two arrays at one index, of
// two rows of a matrix. They are made of the kernel's arguments, the launch's shape and the places of global
// variables.
#pragma once

#include "instrument/pass/address_sum.h"
#include "instrument/pass/device_code.h"

#include <optional>

namespace kcheck::instrument {

class LaunchDistances {
public:
  LaunchDistances(DeviceCode& code, KernelCode& kernel) : code(code), kernel(kernel) {}

  /// The number of the distance `sum`, without its constant, where it is one; from 1 on.
  std::optional<std::uint16_t> numberOf(const AddressSum& sum);
  /// Writes KernelEntry::distances.
  void finish();

private:
  DeviceCode& code;
  KernelCode& kernel;
  std::map<const llvm::Value*, bool> fixed;
  std::vector<AddressSum> distances;

  bool isFixed(const llvm::Value* value, unsigned depth = 0);
  bool findFixed(const llvm::Value* value, unsigned depth);
};

} // namespace kcheck::instrument
