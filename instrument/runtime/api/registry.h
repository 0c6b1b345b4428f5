// What compiled host code registers before main: kernels by the address of their host stub, device variables
// by the address of their host shadow.
#pragma once

#include "instrument/abi.h"
#include "instrument/runtime/api/device.h"

#include <string>

namespace kcheck::runtime::api {

struct Function {
  const char* name = nullptr;               ///< device symbol
  const abi::KernelEntry* kernel = nullptr; ///< resolved on first use; null: the device module has none
  std::size_t maxDynamicShared = 0;         ///< 0 until asked for; see limits()
  bool dynamicSharedSet = false;
  int carveout = -1, cacheConfig = 0;

  KernelLimits limits() const;
  /// For messages.
  const char* display() const { return kernel ? kernel->displayName : name; }
};

struct Symbol {
  const char* name = nullptr;
  void* address = nullptr; ///< in device memory
  std::size_t bytes = 0;
  bool constant = false;
};

/// The kernel whose host stub (or function handle) is `stub`; null when it is none. `kernel` in it may be
/// null.
Function* findFunction(const void* stub);
/// By device symbol, for the library functions of the API.
Function* findFunctionByName(const char* name);
/// The variable whose host shadow is `shadow`; nothing when it is none or the device module lacks it.
bool findVariable(const void* shadow, Symbol& symbol);
/// Whether a `__managed__` variable starts at this address of device memory.
bool isManagedVariable(const void* address);
/// Gives managed variables their address; after modules have been registered.
void placeManagedVariables();

} // namespace kcheck::runtime::api
