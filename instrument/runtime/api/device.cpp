// Limits of the virtual device and the arithmetic over them.
#include "instrument/runtime/api/device.h"

#include <algorithm>

namespace kcheck::runtime::api {

using cuda::Attribute;
using cuda::Dim3;
using cuda::Error;

std::optional<int> deviceAttribute(Attribute attribute) {
  switch (attribute) {
#define KC_DEVICE_ATTRIBUTE(name, number, value)                                                             \
  case Attribute::name: return value;
#include "instrument/runtime/api/device_attributes.def"
#undef KC_DEVICE_ATTRIBUTE
  }
  return std::nullopt;
}

int limit(Attribute attribute) { return *deviceAttribute(attribute); }

namespace {

std::string shapeText(Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::uint64_t volume(Dim3 d) { return std::uint64_t(d.x) * d.y * d.z; }

/// "block (2048,1,1) has 2048 threads; the limit is 1024".
LaunchProblem checkBlock(const KernelLimits& kernel, Dim3 block) {
  std::string what = "block " + shapeText(block);
  if (volume(block) == 0) return {Error::InvalidConfiguration, what + " has an extent of zero"};
  struct Axis {
    char name;
    unsigned extent;
    Attribute most;
  };
  const Axis axes[] = {{'x', block.x, Attribute::MaxBlockDimX},
                       {'y', block.y, Attribute::MaxBlockDimY},
                       {'z', block.z, Attribute::MaxBlockDimZ}};
  unsigned most = unsigned(limit(Attribute::MaxThreadsPerBlock));
  if (volume(block) > most)
    return {Error::InvalidConfiguration, what + " has " + std::to_string(volume(block)) +
                                             " threads; the limit is " + std::to_string(most)};
  for (const Axis& axis : axes)
    if (axis.extent > unsigned(limit(axis.most)))
      return {Error::InvalidConfiguration, what + " has " + std::to_string(axis.extent) + " threads along " +
                                               axis.name + "; the limit is " +
                                               std::to_string(limit(axis.most))};
  if (kernel.maxThreads && volume(block) > kernel.maxThreads)
    return {Error::InvalidValue, what + " has " + std::to_string(volume(block)) +
                                     " threads; the kernel's __launch_bounds__ allow " +
                                     std::to_string(kernel.maxThreads)};
  return {};
}

LaunchProblem checkGrid(Dim3 grid) {
  std::string what = "grid " + shapeText(grid);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return {Error::InvalidConfiguration, what + " has an extent of zero"};
  if (grid.x > unsigned(limit(Attribute::MaxGridDimX)))
    return {Error::InvalidConfiguration, what + " has too many blocks along x; the limit is " +
                                             std::to_string(limit(Attribute::MaxGridDimX))};
  if (grid.y > unsigned(limit(Attribute::MaxGridDimY)))
    return {Error::InvalidConfiguration, what + " has too many blocks along y; the limit is " +
                                             std::to_string(limit(Attribute::MaxGridDimY))};
  if (grid.z > unsigned(limit(Attribute::MaxGridDimZ)))
    return {Error::InvalidConfiguration, what + " has too many blocks along z; the limit is " +
                                             std::to_string(limit(Attribute::MaxGridDimZ))};
  return {};
}

LaunchProblem checkShared(const KernelLimits& kernel, std::size_t dynamic) {
  if (dynamic <= kernel.maxDynamicShared &&
      kernel.staticShared + dynamic <= unsigned(limit(Attribute::MaxSharedMemoryPerBlockOptin)))
    return {};
  std::string text =
      std::to_string(dynamic) + (dynamic == 1 ? " byte" : " bytes") + " of dynamic shared memory";
  if (kernel.staticShared)
    text += " on top of " + std::to_string(kernel.staticShared) +
            (kernel.staticShared == 1 ? " static byte" : " static bytes");
  text += "; the limit is " + std::to_string(kernel.maxDynamicShared);
  if (kernel.staticShared + kernel.maxDynamicShared <= kDefaultSharedLimit)
    text += " (cudaFuncSetAttribute raises it)";
  return {Error::InvalidValue, text};
}

LaunchProblem checkCooperative(const KernelLimits& kernel, const LaunchShape& shape) {
  std::uint64_t resident =
      std::uint64_t(residentBlocks(kernel, int(volume(shape.block)), shape.dynamicShared)) *
      unsigned(limit(Attribute::MultiProcessorCount));
  if (volume(shape.grid) <= resident) return {};
  return {Error::CooperativeLaunchTooLarge, "a cooperative launch of " + std::to_string(volume(shape.grid)) +
                                                " blocks; " + std::to_string(resident) +
                                                " can be resident on this device"};
}

} // namespace

LaunchProblem checkLaunch(const KernelLimits& kernel, const LaunchShape& shape) {
  if (LaunchProblem problem = checkGrid(shape.grid); problem.error != Error::Success) return problem;
  if (LaunchProblem problem = checkBlock(kernel, shape.block); problem.error != Error::Success)
    return problem;
  if (LaunchProblem problem = checkShared(kernel, shape.dynamicShared); problem.error != Error::Success)
    return problem;
  if (volume(shape.cluster) != 1)
    return {Error::InvalidClusterSize,
            "cluster " + shapeText(shape.cluster) + "; compute capability 8.0 has no clusters"};
  return shape.cooperative ? checkCooperative(kernel, shape) : LaunchProblem{};
}

std::size_t defaultDynamicShared(std::size_t staticShared) {
  return staticShared >= kDefaultSharedLimit ? 0 : kDefaultSharedLimit - staticShared;
}

int residentBlocks(const KernelLimits& kernel, int blockThreads, std::size_t dynamicShared) {
  if (blockThreads <= 0 || blockThreads > limit(Attribute::MaxThreadsPerBlock)) return 0;
  if (kernel.maxThreads && unsigned(blockThreads) > kernel.maxThreads) return 0;
  if (kernel.staticShared + dynamicShared > unsigned(limit(Attribute::MaxSharedMemoryPerBlockOptin)))
    return 0;
  int warps = (blockThreads + 31) / 32;
  int byThreads = limit(Attribute::MaxThreadsPerMultiProcessor) / 32 / warps;
  // Registers are handed out to whole warps in units of 256.
  int byRegisters = limit(Attribute::MaxRegistersPerMultiprocessor) / int(kRegistersPerThread * 32) / warps;
  std::size_t perBlock =
      kernel.staticShared + dynamicShared + std::size_t(limit(Attribute::ReservedSharedMemoryPerBlock));
  perBlock = (perBlock + 127) / 128 * 128;
  int byShared = int(std::size_t(limit(Attribute::MaxSharedMemoryPerMultiprocessor)) / perBlock);
  return std::min({byThreads, byRegisters, byShared, limit(Attribute::MaxBlocksPerMultiprocessor)});
}

std::size_t dynamicSharedFor(const KernelLimits& kernel, int blocks, int blockThreads) {
  if (blocks <= 0 || residentBlocks(kernel, blockThreads, 0) < blocks) return 0;
  std::size_t perBlock =
      std::size_t(limit(Attribute::MaxSharedMemoryPerMultiprocessor)) / std::size_t(blocks) / 128 * 128;
  std::size_t fixed = kernel.staticShared + std::size_t(limit(Attribute::ReservedSharedMemoryPerBlock));
  if (perBlock <= fixed) return 0;
  return std::min(perBlock - fixed,
                  std::size_t(limit(Attribute::MaxSharedMemoryPerBlockOptin)) - kernel.staticShared);
}

} // namespace kcheck::runtime::api
