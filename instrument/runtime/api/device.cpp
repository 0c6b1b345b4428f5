// Limits of the virtual device and the arithmetic over them.
#include "instrument/runtime/api/device.h"

#include <algorithm>
#include <cstring>

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
  std::string text = std::to_string(dynamic) + " bytes of dynamic shared memory";
  if (kernel.staticShared) text += " on top of " + std::to_string(kernel.staticShared) + " static bytes";
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

void fillProperties(cuda::DeviceProperties& p) {
  using A = Attribute;
  p = {};
  std::strncpy(p.name, kDeviceName, sizeof p.name - 1);
  std::memcpy(p.uuid, "kcheck-virtual-0", sizeof p.uuid);
  p.luidDeviceNodeMask = 1;
  p.totalGlobalMem = kGlobalMemory;
  p.unifiedFunctionPointers = 0;
  auto one = [](int& field, A attribute) { field = limit(attribute); };
  auto two = [](int* field, A a, A b) { field[0] = limit(a), field[1] = limit(b); };
  auto three = [](int* field, A a, A b, A c) {
    field[0] = limit(a), field[1] = limit(b), field[2] = limit(c);
  };
  auto size = [](std::size_t& field, A attribute) { field = std::size_t(limit(attribute)); };
  size(p.sharedMemPerBlock, A::MaxSharedMemoryPerBlock);
  one(p.regsPerBlock, A::MaxRegistersPerBlock);
  one(p.warpSize, A::WarpSize);
  size(p.memPitch, A::MaxPitch);
  one(p.maxThreadsPerBlock, A::MaxThreadsPerBlock);
  three(p.maxThreadsDim, A::MaxBlockDimX, A::MaxBlockDimY, A::MaxBlockDimZ);
  three(p.maxGridSize, A::MaxGridDimX, A::MaxGridDimY, A::MaxGridDimZ);
  size(p.totalConstMem, A::TotalConstantMemory);
  one(p.major, A::ComputeCapabilityMajor), one(p.minor, A::ComputeCapabilityMinor);
  size(p.textureAlignment, A::TextureAlignment), size(p.texturePitchAlignment, A::TexturePitchAlignment);
  one(p.multiProcessorCount, A::MultiProcessorCount);
  one(p.integrated, A::Integrated), one(p.canMapHostMemory, A::CanMapHostMemory);
  one(p.maxTexture1D, A::MaxTexture1DWidth), one(p.maxTexture1DMipmap, A::MaxTexture1DMipmappedWidth);
  two(p.maxTexture2D, A::MaxTexture2DWidth, A::MaxTexture2DHeight);
  two(p.maxTexture2DMipmap, A::MaxTexture2DMipmappedWidth, A::MaxTexture2DMipmappedHeight);
  three(p.maxTexture2DLinear, A::MaxTexture2DLinearWidth, A::MaxTexture2DLinearHeight,
        A::MaxTexture2DLinearPitch);
  two(p.maxTexture2DGather, A::MaxTexture2DGatherWidth, A::MaxTexture2DGatherHeight);
  three(p.maxTexture3D, A::MaxTexture3DWidth, A::MaxTexture3DHeight, A::MaxTexture3DDepth);
  three(p.maxTexture3DAlt, A::MaxTexture3DWidthAlt, A::MaxTexture3DHeightAlt, A::MaxTexture3DDepthAlt);
  one(p.maxTextureCubemap, A::MaxTextureCubemapWidth);
  two(p.maxTexture1DLayered, A::MaxTexture1DLayeredWidth, A::MaxTexture1DLayeredLayers);
  three(p.maxTexture2DLayered, A::MaxTexture2DLayeredWidth, A::MaxTexture2DLayeredHeight,
        A::MaxTexture2DLayeredLayers);
  two(p.maxTextureCubemapLayered, A::MaxTextureCubemapLayeredWidth, A::MaxTextureCubemapLayeredLayers);
  one(p.maxSurface1D, A::MaxSurface1DWidth);
  two(p.maxSurface2D, A::MaxSurface2DWidth, A::MaxSurface2DHeight);
  three(p.maxSurface3D, A::MaxSurface3DWidth, A::MaxSurface3DHeight, A::MaxSurface3DDepth);
  two(p.maxSurface1DLayered, A::MaxSurface1DLayeredWidth, A::MaxSurface1DLayeredLayers);
  three(p.maxSurface2DLayered, A::MaxSurface2DLayeredWidth, A::MaxSurface2DLayeredHeight,
        A::MaxSurface2DLayeredLayers);
  one(p.maxSurfaceCubemap, A::MaxSurfaceCubemapWidth);
  two(p.maxSurfaceCubemapLayered, A::MaxSurfaceCubemapLayeredWidth, A::MaxSurfaceCubemapLayeredLayers);
  size(p.surfaceAlignment, A::SurfaceAlignment);
  one(p.concurrentKernels, A::ConcurrentKernels), one(p.ECCEnabled, A::EccEnabled);
  one(p.pciBusID, A::PciBusId), one(p.pciDeviceID, A::PciDeviceId), one(p.pciDomainID, A::PciDomainId);
  one(p.tccDriver, A::TccDriver), one(p.asyncEngineCount, A::AsyncEngineCount);
  one(p.unifiedAddressing, A::UnifiedAddressing), one(p.memoryBusWidth, A::GlobalMemoryBusWidth);
  one(p.l2CacheSize, A::L2CacheSize), one(p.persistingL2CacheMaxSize, A::MaxPersistingL2CacheSize);
  one(p.maxThreadsPerMultiProcessor, A::MaxThreadsPerMultiProcessor);
  one(p.streamPrioritiesSupported, A::StreamPrioritiesSupported);
  one(p.globalL1CacheSupported, A::GlobalL1CacheSupported),
      one(p.localL1CacheSupported, A::LocalL1CacheSupported);
  size(p.sharedMemPerMultiprocessor, A::MaxSharedMemoryPerMultiprocessor);
  one(p.regsPerMultiprocessor, A::MaxRegistersPerMultiprocessor), one(p.managedMemory, A::ManagedMemory);
  one(p.concurrentManagedAccess, A::ConcurrentManagedAccess);
  one(p.computePreemptionSupported, A::ComputePreemptionSupported);
  one(p.canUseHostPointerForRegisteredMem, A::CanUseHostPointerForRegisteredMem);
  one(p.cooperativeLaunch, A::CooperativeLaunch);
  size(p.sharedMemPerBlockOptin, A::MaxSharedMemoryPerBlockOptin);
  one(p.maxBlocksPerMultiProcessor, A::MaxBlocksPerMultiprocessor);
  one(p.accessPolicyMaxWindowSize, A::MaxAccessPolicyWindowSize);
  size(p.reservedSharedMemPerBlock, A::ReservedSharedMemoryPerBlock);
  one(p.hostRegisterSupported, A::HostRegisterSupported),
      one(p.memoryPoolsSupported, A::MemoryPoolsSupported);
  p.deviceNumaId = limit(A::NumaId);
}

} // namespace kcheck::runtime::api
