// Kernels as objects: attributes, occupancy, names, parameters.
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/registry.h"

#include <algorithm>

/// What the pass leaves in the program: 90 for device code of --arch=sm_90. Libraries choose kernels by it
/// that they have compiled for the same architecture (CUB's tuning), whatever the device says it is.
extern "C" __attribute__((weak)) const int kcheckArchitecture;

namespace kcheck::runtime::api {
namespace {

/// Runs body(function) for a kernel that the device code has.
template <class Body> [[gnu::always_inline]] inline Error withFunction(const void* stub, Body&& body) {
  return call([&] {
    Function* function = findFunction(stub);
    return function && function->kernel ? body(*function) : Error::InvalidDeviceFunction;
  });
}

void describe(const Function& function, cuda::FunctionAttributes& attributes) {
  KernelLimits limits = function.limits();
  attributes = {};
  attributes.sharedBytes = limits.staticShared;
  attributes.maxThreadsPerBlock =
      limits.maxThreads ? int(limits.maxThreads) : limit(cuda::Attribute::MaxThreadsPerBlock);
  attributes.registers = int(kRegistersPerThread);
  const int architecture = &kcheckArchitecture ? kcheckArchitecture : 80;
  attributes.ptxVersion = architecture;
  attributes.binaryVersion = architecture;
  attributes.maxDynamicSharedBytes = int(limits.maxDynamicShared);
  attributes.carveout = function.carveout;
}

Error setAttribute(Function& function, cuda::FunctionAttribute attribute, int value) {
  switch (attribute) {
  case cuda::FunctionAttribute::MaxDynamicSharedMemorySize: {
    int most = limit(cuda::Attribute::MaxSharedMemoryPerBlockOptin) - int(function.limits().staticShared);
    if (value < 0 || value > most) return Error::InvalidValue;
    function.maxDynamicShared = std::size_t(value);
    function.dynamicSharedSet = true;
    return Error::Success;
  }
  case cuda::FunctionAttribute::PreferredSharedMemoryCarveout:
    if (value < -1 || value > 100) return Error::InvalidValue;
    function.carveout = value;
    return Error::Success;
  case cuda::FunctionAttribute::NonPortableClusterSizeAllowed:
  case cuda::FunctionAttribute::ClusterSchedulingPolicyPreference: return Error::Success;
  case cuda::FunctionAttribute::ClusterDimMustBeSet:
  case cuda::FunctionAttribute::RequiredClusterWidth:
  case cuda::FunctionAttribute::RequiredClusterHeight:
  case cuda::FunctionAttribute::RequiredClusterDepth: return Error::NotSupported; // no clusters on 8.0
  }
  return Error::InvalidValue;
}

} // namespace
} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;

extern "C" {

Error cudaFuncGetAttributes(cuda::FunctionAttributes* attributes, const void* stub) {
  return call([&] {
    if (!attributes) return Error::InvalidValue;
    Function* function = findFunction(stub);
    if (!function || !function->kernel) // what is no kernel of the program's is taken for a handle
      return stub ? Error::InvalidResourceHandle : Error::InvalidDeviceFunction;
    describe(*function, *attributes);
    return Error::Success;
  });
}

Error cudaFuncSetAttribute(const void* stub, cuda::FunctionAttribute attribute, int value) {
  return withFunction(stub, [&](Function& function) { return setAttribute(function, attribute, value); });
}

Error cudaKernelSetAttributeForDevice(const void* kernel, cuda::FunctionAttribute attribute, int value,
                                      int device) {
  if (device != 0) return remember(Error::InvalidDevice);
  return cudaFuncSetAttribute(kernel, attribute, value);
}

Error cudaFuncSetCacheConfig(const void* stub, int config) {
  return withFunction(stub, [&](Function& function) {
    if (config < 0 || config > 3) return Error::InvalidValue;
    function.cacheConfig = config;
    return Error::Success;
  });
}

// Banks of shared memory have four bytes on every device since sm_50.

Error cudaFuncSetSharedMemConfig(const void* stub, int config) {
  return withFunction(
      stub, [&](Function&) { return config < 0 || config > 2 ? Error::InvalidValue : Error::Success; });
}

Error cudaDeviceSetSharedMemConfig(int config) {
  return call([&] { return config < 0 || config > 2 ? Error::InvalidValue : Error::Success; });
}

Error cudaDeviceGetSharedMemConfig(int* config) {
  return call([&] {
    if (!config) return Error::InvalidValue;
    *config = 1; // cudaSharedMemBankSizeFourByte
    return Error::Success;
  });
}

Error cudaFuncGetName(const char** name, const void* stub) {
  return withFunction(stub, [&](Function& function) {
    if (!name) return Error::InvalidValue;
    *name = function.name;
    return Error::Success;
  });
}

Error cudaFuncGetParamInfo(const void* stub, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return withFunction(stub, [&](Function& function) {
    if (index >= function.kernel->parameterCount) return Error::InvalidValue;
    if (offset) *offset = function.kernel->parameters[index].offset;
    if (bytes) *bytes = function.kernel->parameters[index].bytes;
    return Error::Success;
  });
}

// A function handle is the Function itself; the API takes it wherever it takes a host stub.
Error cudaGetFuncBySymbol(const void** handle, const void* stub) {
  return withFunction(stub, [&](Function& function) {
    if (!handle) return Error::InvalidValue;
    *handle = &function;
    return Error::Success;
  });
}

Error cudaGetKernel(const void** handle, const void* stub) { return cudaGetFuncBySymbol(handle, stub); }

Error __cudaGetKernel(const void** handle, const void* stub) { return cudaGetFuncBySymbol(handle, stub); }

Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* stub, int blockThreads,
                                                             std::size_t dynamicShared, unsigned flags) {
  return withFunction(stub, [&](Function& function) {
    if (!blocks || blockThreads <= 0 || flags > 1) return Error::InvalidValue;
    *blocks = residentBlocks(function.limits(), blockThreads, dynamicShared);
    return Error::Success;
  });
}

Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* stub, int blockThreads,
                                                    std::size_t dynamicShared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, stub, blockThreads, dynamicShared, 0);
}

Error cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* stub, int blocks,
                                                int blockThreads) {
  return withFunction(stub, [&](Function& function) {
    if (!bytes || blocks <= 0 || blockThreads <= 0) return Error::InvalidValue;
    *bytes = dynamicSharedFor(function.limits(), blocks, blockThreads);
    return Error::Success;
  });
}

Error cudaOccupancyMaxPotentialClusterSize(int* size, const void* stub, const cuda::LaunchConfig*) {
  return withFunction(stub, [&](Function&) { return size ? Error::NotSupported : Error::InvalidValue; });
}

Error cudaOccupancyMaxActiveClusters(int* count, const void* stub, const cuda::LaunchConfig*) {
  return withFunction(stub, [&](Function&) { return count ? Error::NotSupported : Error::InvalidValue; });
}

} // extern "C"
