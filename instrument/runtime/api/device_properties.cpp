// The properties structure of the virtual device: the attributes once more, field by field.
#include "instrument/runtime/api/device.h"

#include <cstring>

namespace kcheck::runtime::api {
namespace {

using A = cuda::Attribute;
using cuda::DeviceProperties;

void one(int& field, A attribute) { field = limit(attribute); }
void two(int* field, A a, A b) { field[0] = limit(a), field[1] = limit(b); }
void three(int* field, A a, A b, A c) { field[0] = limit(a), field[1] = limit(b), field[2] = limit(c); }
void size(std::size_t& field, A attribute) { field = std::size_t(limit(attribute)); }

void fillExecution(DeviceProperties& p) {
  size(p.sharedMemPerBlock, A::MaxSharedMemoryPerBlock);
  size(p.sharedMemPerBlockOptin, A::MaxSharedMemoryPerBlockOptin);
  size(p.sharedMemPerMultiprocessor, A::MaxSharedMemoryPerMultiprocessor);
  size(p.reservedSharedMemPerBlock, A::ReservedSharedMemoryPerBlock);
  one(p.regsPerBlock, A::MaxRegistersPerBlock);
  one(p.regsPerMultiprocessor, A::MaxRegistersPerMultiprocessor);
  one(p.warpSize, A::WarpSize);
  one(p.maxThreadsPerBlock, A::MaxThreadsPerBlock);
  one(p.maxThreadsPerMultiProcessor, A::MaxThreadsPerMultiProcessor);
  one(p.maxBlocksPerMultiProcessor, A::MaxBlocksPerMultiprocessor);
  three(p.maxThreadsDim, A::MaxBlockDimX, A::MaxBlockDimY, A::MaxBlockDimZ);
  three(p.maxGridSize, A::MaxGridDimX, A::MaxGridDimY, A::MaxGridDimZ);
  one(p.major, A::ComputeCapabilityMajor);
  one(p.minor, A::ComputeCapabilityMinor);
  one(p.multiProcessorCount, A::MultiProcessorCount);
  one(p.concurrentKernels, A::ConcurrentKernels);
  one(p.asyncEngineCount, A::AsyncEngineCount);
  one(p.streamPrioritiesSupported, A::StreamPrioritiesSupported);
  one(p.computePreemptionSupported, A::ComputePreemptionSupported);
  one(p.cooperativeLaunch, A::CooperativeLaunch);
}

void fillMemory(DeviceProperties& p) {
  p.totalGlobalMem = kGlobalMemory;
  size(p.totalConstMem, A::TotalConstantMemory);
  size(p.memPitch, A::MaxPitch);
  one(p.integrated, A::Integrated);
  one(p.canMapHostMemory, A::CanMapHostMemory);
  one(p.ECCEnabled, A::EccEnabled);
  one(p.unifiedAddressing, A::UnifiedAddressing);
  one(p.memoryBusWidth, A::GlobalMemoryBusWidth);
  one(p.l2CacheSize, A::L2CacheSize);
  one(p.persistingL2CacheMaxSize, A::MaxPersistingL2CacheSize);
  one(p.globalL1CacheSupported, A::GlobalL1CacheSupported);
  one(p.localL1CacheSupported, A::LocalL1CacheSupported);
  one(p.managedMemory, A::ManagedMemory);
  one(p.concurrentManagedAccess, A::ConcurrentManagedAccess);
  one(p.canUseHostPointerForRegisteredMem, A::CanUseHostPointerForRegisteredMem);
  one(p.accessPolicyMaxWindowSize, A::MaxAccessPolicyWindowSize);
  one(p.hostRegisterSupported, A::HostRegisterSupported);
  one(p.memoryPoolsSupported, A::MemoryPoolsSupported);
}

void fillImages(DeviceProperties& p) {
  size(p.textureAlignment, A::TextureAlignment);
  size(p.texturePitchAlignment, A::TexturePitchAlignment);
  size(p.surfaceAlignment, A::SurfaceAlignment);
  one(p.maxTexture1D, A::MaxTexture1DWidth);
  one(p.maxTexture1DMipmap, A::MaxTexture1DMipmappedWidth);
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
}

} // namespace

void fillProperties(DeviceProperties& p) {
  p = {};
  std::strncpy(p.name, kDeviceName, sizeof p.name - 1);
  std::memcpy(p.uuid, "kcheck-virtual-0", sizeof p.uuid);
  p.luidDeviceNodeMask = 1;
  one(p.pciBusID, A::PciBusId);
  one(p.pciDeviceID, A::PciDeviceId);
  one(p.pciDomainID, A::PciDomainId);
  one(p.tccDriver, A::TccDriver);
  one(p.deviceNumaId, A::NumaId);
  // Members that CUDA 13 dropped: the front end's headers put them where the record has reserved words.
  one(p.reserved[0], A::ClockRate), one(p.reserved[1], A::MemoryClockRate),
      one(p.reserved[2], A::ComputeMode);
  one(p.reserved[3], A::GpuOverlap), one(p.reserved[4], A::KernelExecTimeout);
  one(p.reserved[5], A::MaxTexture1DLinearWidth);
  one(p.reserved[7], A::SingleToDoublePrecisionPerfRatio);
  fillExecution(p);
  fillMemory(p);
  fillImages(p);
}

} // namespace kcheck::runtime::api
