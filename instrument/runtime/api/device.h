// The virtual device: the limits of compute capability 8.0, pure arithmetic over them (launch validation,
// occupancy), and nothing else. Unit-tested without a program.
#pragma once

#include "instrument/runtime/api/cuda_abi.h"

#include <optional>
#include <string>

namespace kcheck::runtime::api {

inline constexpr const char* kDeviceName = "kcheck virtual device (sm_80)";
inline constexpr int kRuntimeVersion = 13000;
inline constexpr std::size_t kGlobalMemory = std::size_t{16} << 30;
inline constexpr unsigned kDefaultSharedLimit = 49152; ///< static and dynamic shared memory without opting in
inline constexpr unsigned kRegistersPerThread = 32;    ///< what function attributes and occupancy assume

/// The value of an attribute, or nothing for an unknown number.
std::optional<int> deviceAttribute(cuda::Attribute attribute);
/// For attributes named in the code.
int limit(cuda::Attribute attribute);
void fillProperties(cuda::DeviceProperties& properties);

/// What validation and occupancy need to know of a kernel.
struct KernelLimits {
  std::size_t staticShared = 0;
  std::size_t maxDynamicShared = 0; ///< as cudaFuncSetAttribute left it
  unsigned maxThreads = 0;          ///< of __launch_bounds__; 0: none
};

struct LaunchShape {
  cuda::Dim3 grid, block;
  std::size_t dynamicShared = 0;
  bool cooperative = false;
  cuda::Dim3 cluster; ///< 1,1,1: none
};

struct LaunchProblem {
  cuda::Error error = cuda::Error::Success;
  std::string reason; ///< the shape and the limit in one plain sentence; empty on success
};

LaunchProblem checkLaunch(const KernelLimits& kernel, const LaunchShape& shape);

/// Dynamic shared memory that a kernel may ask for before cudaFuncSetAttribute.
std::size_t defaultDynamicShared(std::size_t staticShared);

/// Blocks of one multiprocessor at a time; 0 when not even one fits.
int residentBlocks(const KernelLimits& kernel, int blockThreads, std::size_t dynamicShared);
/// The most dynamic shared memory with which `blocks` blocks are still resident.
std::size_t dynamicSharedFor(const KernelLimits& kernel, int blocks, int blockThreads);

} // namespace kcheck::runtime::api
