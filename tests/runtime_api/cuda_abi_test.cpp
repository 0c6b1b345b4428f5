// Our declarations of CUDA's types against the toolkit's own, where it is installed: every number, size and
// offset.
#include "instrument/runtime/api/cuda_abi.h"

#include <gtest/gtest.h>
#include <utility>

#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>

namespace kcheck::cuda {
namespace {

#define SAME_NUMBER(ours, theirs) static_assert(long(ours) == long(theirs), #theirs)
#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define SAME_PLACE(ours, member, theirs, their_member)                                                       \
  static_assert(offsetof(ours, member) == offsetof(theirs, their_member) &&                                  \
                    sizeof(std::declval<ours>().member) == sizeof(std::declval<theirs>().their_member),      \
                #theirs "::" #their_member)

SAME_SIZE(DeviceProperties, ::cudaDeviceProp);
SAME_PLACE(DeviceProperties, name, ::cudaDeviceProp, name);
SAME_PLACE(DeviceProperties, uuid, ::cudaDeviceProp, uuid);
SAME_PLACE(DeviceProperties, luid, ::cudaDeviceProp, luid);
SAME_PLACE(DeviceProperties, luidDeviceNodeMask, ::cudaDeviceProp, luidDeviceNodeMask);
SAME_PLACE(DeviceProperties, totalGlobalMem, ::cudaDeviceProp, totalGlobalMem);
SAME_PLACE(DeviceProperties, sharedMemPerBlock, ::cudaDeviceProp, sharedMemPerBlock);
SAME_PLACE(DeviceProperties, regsPerBlock, ::cudaDeviceProp, regsPerBlock);
SAME_PLACE(DeviceProperties, warpSize, ::cudaDeviceProp, warpSize);
SAME_PLACE(DeviceProperties, memPitch, ::cudaDeviceProp, memPitch);
SAME_PLACE(DeviceProperties, maxThreadsPerBlock, ::cudaDeviceProp, maxThreadsPerBlock);
SAME_PLACE(DeviceProperties, maxThreadsDim, ::cudaDeviceProp, maxThreadsDim);
SAME_PLACE(DeviceProperties, maxGridSize, ::cudaDeviceProp, maxGridSize);
SAME_PLACE(DeviceProperties, totalConstMem, ::cudaDeviceProp, totalConstMem);
SAME_PLACE(DeviceProperties, major, ::cudaDeviceProp, major);
SAME_PLACE(DeviceProperties, minor, ::cudaDeviceProp, minor);
SAME_PLACE(DeviceProperties, textureAlignment, ::cudaDeviceProp, textureAlignment);
SAME_PLACE(DeviceProperties, texturePitchAlignment, ::cudaDeviceProp, texturePitchAlignment);
SAME_PLACE(DeviceProperties, multiProcessorCount, ::cudaDeviceProp, multiProcessorCount);
SAME_PLACE(DeviceProperties, integrated, ::cudaDeviceProp, integrated);
SAME_PLACE(DeviceProperties, canMapHostMemory, ::cudaDeviceProp, canMapHostMemory);
SAME_PLACE(DeviceProperties, maxTexture1D, ::cudaDeviceProp, maxTexture1D);
SAME_PLACE(DeviceProperties, maxTexture1DMipmap, ::cudaDeviceProp, maxTexture1DMipmap);
SAME_PLACE(DeviceProperties, maxTexture2D, ::cudaDeviceProp, maxTexture2D);
SAME_PLACE(DeviceProperties, maxTexture2DMipmap, ::cudaDeviceProp, maxTexture2DMipmap);
SAME_PLACE(DeviceProperties, maxTexture2DLinear, ::cudaDeviceProp, maxTexture2DLinear);
SAME_PLACE(DeviceProperties, maxTexture2DGather, ::cudaDeviceProp, maxTexture2DGather);
SAME_PLACE(DeviceProperties, maxTexture3D, ::cudaDeviceProp, maxTexture3D);
SAME_PLACE(DeviceProperties, maxTexture3DAlt, ::cudaDeviceProp, maxTexture3DAlt);
SAME_PLACE(DeviceProperties, maxTextureCubemap, ::cudaDeviceProp, maxTextureCubemap);
SAME_PLACE(DeviceProperties, maxTexture1DLayered, ::cudaDeviceProp, maxTexture1DLayered);
SAME_PLACE(DeviceProperties, maxTexture2DLayered, ::cudaDeviceProp, maxTexture2DLayered);
SAME_PLACE(DeviceProperties, maxTextureCubemapLayered, ::cudaDeviceProp, maxTextureCubemapLayered);
SAME_PLACE(DeviceProperties, maxSurface1D, ::cudaDeviceProp, maxSurface1D);
SAME_PLACE(DeviceProperties, maxSurface2D, ::cudaDeviceProp, maxSurface2D);
SAME_PLACE(DeviceProperties, maxSurface3D, ::cudaDeviceProp, maxSurface3D);
SAME_PLACE(DeviceProperties, maxSurface1DLayered, ::cudaDeviceProp, maxSurface1DLayered);
SAME_PLACE(DeviceProperties, maxSurface2DLayered, ::cudaDeviceProp, maxSurface2DLayered);
SAME_PLACE(DeviceProperties, maxSurfaceCubemap, ::cudaDeviceProp, maxSurfaceCubemap);
SAME_PLACE(DeviceProperties, maxSurfaceCubemapLayered, ::cudaDeviceProp, maxSurfaceCubemapLayered);
SAME_PLACE(DeviceProperties, surfaceAlignment, ::cudaDeviceProp, surfaceAlignment);
SAME_PLACE(DeviceProperties, concurrentKernels, ::cudaDeviceProp, concurrentKernels);
SAME_PLACE(DeviceProperties, ECCEnabled, ::cudaDeviceProp, ECCEnabled);
SAME_PLACE(DeviceProperties, pciBusID, ::cudaDeviceProp, pciBusID);
SAME_PLACE(DeviceProperties, pciDeviceID, ::cudaDeviceProp, pciDeviceID);
SAME_PLACE(DeviceProperties, pciDomainID, ::cudaDeviceProp, pciDomainID);
SAME_PLACE(DeviceProperties, tccDriver, ::cudaDeviceProp, tccDriver);
SAME_PLACE(DeviceProperties, asyncEngineCount, ::cudaDeviceProp, asyncEngineCount);
SAME_PLACE(DeviceProperties, unifiedAddressing, ::cudaDeviceProp, unifiedAddressing);
SAME_PLACE(DeviceProperties, memoryBusWidth, ::cudaDeviceProp, memoryBusWidth);
SAME_PLACE(DeviceProperties, l2CacheSize, ::cudaDeviceProp, l2CacheSize);
SAME_PLACE(DeviceProperties, persistingL2CacheMaxSize, ::cudaDeviceProp, persistingL2CacheMaxSize);
SAME_PLACE(DeviceProperties, maxThreadsPerMultiProcessor, ::cudaDeviceProp, maxThreadsPerMultiProcessor);
SAME_PLACE(DeviceProperties, streamPrioritiesSupported, ::cudaDeviceProp, streamPrioritiesSupported);
SAME_PLACE(DeviceProperties, globalL1CacheSupported, ::cudaDeviceProp, globalL1CacheSupported);
SAME_PLACE(DeviceProperties, localL1CacheSupported, ::cudaDeviceProp, localL1CacheSupported);
SAME_PLACE(DeviceProperties, sharedMemPerMultiprocessor, ::cudaDeviceProp, sharedMemPerMultiprocessor);
SAME_PLACE(DeviceProperties, regsPerMultiprocessor, ::cudaDeviceProp, regsPerMultiprocessor);
SAME_PLACE(DeviceProperties, managedMemory, ::cudaDeviceProp, managedMemory);
SAME_PLACE(DeviceProperties, isMultiGpuBoard, ::cudaDeviceProp, isMultiGpuBoard);
SAME_PLACE(DeviceProperties, multiGpuBoardGroupID, ::cudaDeviceProp, multiGpuBoardGroupID);
SAME_PLACE(DeviceProperties, hostNativeAtomicSupported, ::cudaDeviceProp, hostNativeAtomicSupported);
SAME_PLACE(DeviceProperties, pageableMemoryAccess, ::cudaDeviceProp, pageableMemoryAccess);
SAME_PLACE(DeviceProperties, concurrentManagedAccess, ::cudaDeviceProp, concurrentManagedAccess);
SAME_PLACE(DeviceProperties, computePreemptionSupported, ::cudaDeviceProp, computePreemptionSupported);
SAME_PLACE(DeviceProperties, canUseHostPointerForRegisteredMem, ::cudaDeviceProp,
           canUseHostPointerForRegisteredMem);
SAME_PLACE(DeviceProperties, cooperativeLaunch, ::cudaDeviceProp, cooperativeLaunch);
SAME_PLACE(DeviceProperties, sharedMemPerBlockOptin, ::cudaDeviceProp, sharedMemPerBlockOptin);
SAME_PLACE(DeviceProperties, pageableMemoryAccessUsesHostPageTables, ::cudaDeviceProp,
           pageableMemoryAccessUsesHostPageTables);
SAME_PLACE(DeviceProperties, directManagedMemAccessFromHost, ::cudaDeviceProp,
           directManagedMemAccessFromHost);
SAME_PLACE(DeviceProperties, maxBlocksPerMultiProcessor, ::cudaDeviceProp, maxBlocksPerMultiProcessor);
SAME_PLACE(DeviceProperties, accessPolicyMaxWindowSize, ::cudaDeviceProp, accessPolicyMaxWindowSize);
SAME_PLACE(DeviceProperties, reservedSharedMemPerBlock, ::cudaDeviceProp, reservedSharedMemPerBlock);
SAME_PLACE(DeviceProperties, hostRegisterSupported, ::cudaDeviceProp, hostRegisterSupported);
SAME_PLACE(DeviceProperties, sparseCudaArraySupported, ::cudaDeviceProp, sparseCudaArraySupported);
SAME_PLACE(DeviceProperties, hostRegisterReadOnlySupported, ::cudaDeviceProp, hostRegisterReadOnlySupported);
SAME_PLACE(DeviceProperties, timelineSemaphoreInteropSupported, ::cudaDeviceProp,
           timelineSemaphoreInteropSupported);
SAME_PLACE(DeviceProperties, memoryPoolsSupported, ::cudaDeviceProp, memoryPoolsSupported);
SAME_PLACE(DeviceProperties, gpuDirectRDMASupported, ::cudaDeviceProp, gpuDirectRDMASupported);
SAME_PLACE(DeviceProperties, gpuDirectRDMAFlushWritesOptions, ::cudaDeviceProp,
           gpuDirectRDMAFlushWritesOptions);
SAME_PLACE(DeviceProperties, gpuDirectRDMAWritesOrdering, ::cudaDeviceProp, gpuDirectRDMAWritesOrdering);
SAME_PLACE(DeviceProperties, memoryPoolSupportedHandleTypes, ::cudaDeviceProp,
           memoryPoolSupportedHandleTypes);
SAME_PLACE(DeviceProperties, deferredMappingCudaArraySupported, ::cudaDeviceProp,
           deferredMappingCudaArraySupported);
SAME_PLACE(DeviceProperties, ipcEventSupported, ::cudaDeviceProp, ipcEventSupported);
SAME_PLACE(DeviceProperties, clusterLaunch, ::cudaDeviceProp, clusterLaunch);
SAME_PLACE(DeviceProperties, unifiedFunctionPointers, ::cudaDeviceProp, unifiedFunctionPointers);
SAME_PLACE(DeviceProperties, deviceNumaConfig, ::cudaDeviceProp, deviceNumaConfig);
SAME_PLACE(DeviceProperties, deviceNumaId, ::cudaDeviceProp, deviceNumaId);
SAME_PLACE(DeviceProperties, mpsEnabled, ::cudaDeviceProp, mpsEnabled);
SAME_PLACE(DeviceProperties, hostNumaId, ::cudaDeviceProp, hostNumaId);
SAME_PLACE(DeviceProperties, gpuPciDeviceID, ::cudaDeviceProp, gpuPciDeviceID);
SAME_PLACE(DeviceProperties, gpuPciSubsystemID, ::cudaDeviceProp, gpuPciSubsystemID);
SAME_PLACE(DeviceProperties, hostNumaMultinodeIpcSupported, ::cudaDeviceProp, hostNumaMultinodeIpcSupported);
SAME_PLACE(DeviceProperties, reserved, ::cudaDeviceProp, reserved);
SAME_SIZE(PointerAttributes, ::cudaPointerAttributes);
SAME_PLACE(PointerAttributes, type, ::cudaPointerAttributes, type);
SAME_PLACE(PointerAttributes, device, ::cudaPointerAttributes, device);
SAME_PLACE(PointerAttributes, devicePointer, ::cudaPointerAttributes, devicePointer);
SAME_PLACE(PointerAttributes, hostPointer, ::cudaPointerAttributes, hostPointer);
SAME_SIZE(FunctionAttributes, ::cudaFuncAttributes);
SAME_PLACE(FunctionAttributes, sharedBytes, ::cudaFuncAttributes, sharedSizeBytes);
SAME_PLACE(FunctionAttributes, constantBytes, ::cudaFuncAttributes, constSizeBytes);
SAME_PLACE(FunctionAttributes, localBytes, ::cudaFuncAttributes, localSizeBytes);
SAME_PLACE(FunctionAttributes, maxThreadsPerBlock, ::cudaFuncAttributes, maxThreadsPerBlock);
SAME_PLACE(FunctionAttributes, registers, ::cudaFuncAttributes, numRegs);
SAME_PLACE(FunctionAttributes, ptxVersion, ::cudaFuncAttributes, ptxVersion);
SAME_PLACE(FunctionAttributes, binaryVersion, ::cudaFuncAttributes, binaryVersion);
SAME_PLACE(FunctionAttributes, cacheModeCa, ::cudaFuncAttributes, cacheModeCA);
SAME_PLACE(FunctionAttributes, maxDynamicSharedBytes, ::cudaFuncAttributes, maxDynamicSharedSizeBytes);
SAME_PLACE(FunctionAttributes, carveout, ::cudaFuncAttributes, preferredShmemCarveout);
SAME_PLACE(FunctionAttributes, clusterMustBeSet, ::cudaFuncAttributes, clusterDimMustBeSet);
SAME_PLACE(FunctionAttributes, nonPortableCluster, ::cudaFuncAttributes, nonPortableClusterSizeAllowed);
SAME_SIZE(Copy3D, ::cudaMemcpy3DParms);
SAME_PLACE(Copy3D, sourceArray, ::cudaMemcpy3DParms, srcArray);
SAME_PLACE(Copy3D, sourcePosition, ::cudaMemcpy3DParms, srcPos);
SAME_PLACE(Copy3D, sourcePointer, ::cudaMemcpy3DParms, srcPtr);
SAME_PLACE(Copy3D, targetArray, ::cudaMemcpy3DParms, dstArray);
SAME_PLACE(Copy3D, targetPosition, ::cudaMemcpy3DParms, dstPos);
SAME_PLACE(Copy3D, targetPointer, ::cudaMemcpy3DParms, dstPtr);
SAME_PLACE(Copy3D, extent, ::cudaMemcpy3DParms, extent);
SAME_PLACE(Copy3D, kind, ::cudaMemcpy3DParms, kind);
SAME_SIZE(PeerCopy3D, ::cudaMemcpy3DPeerParms);
SAME_PLACE(PeerCopy3D, sourceArray, ::cudaMemcpy3DPeerParms, srcArray);
SAME_PLACE(PeerCopy3D, sourcePosition, ::cudaMemcpy3DPeerParms, srcPos);
SAME_PLACE(PeerCopy3D, sourcePointer, ::cudaMemcpy3DPeerParms, srcPtr);
SAME_PLACE(PeerCopy3D, sourceDevice, ::cudaMemcpy3DPeerParms, srcDevice);
SAME_PLACE(PeerCopy3D, targetArray, ::cudaMemcpy3DPeerParms, dstArray);
SAME_PLACE(PeerCopy3D, targetPosition, ::cudaMemcpy3DPeerParms, dstPos);
SAME_PLACE(PeerCopy3D, targetPointer, ::cudaMemcpy3DPeerParms, dstPtr);
SAME_PLACE(PeerCopy3D, targetDevice, ::cudaMemcpy3DPeerParms, dstDevice);
SAME_PLACE(PeerCopy3D, extent, ::cudaMemcpy3DPeerParms, extent);
SAME_SIZE(PitchedPointer, ::cudaPitchedPtr);
SAME_PLACE(PitchedPointer, pointer, ::cudaPitchedPtr, ptr);
SAME_PLACE(PitchedPointer, pitch, ::cudaPitchedPtr, pitch);
SAME_PLACE(PitchedPointer, xsize, ::cudaPitchedPtr, xsize);
SAME_PLACE(PitchedPointer, ysize, ::cudaPitchedPtr, ysize);
SAME_SIZE(Extent, ::cudaExtent);
SAME_PLACE(Extent, width, ::cudaExtent, width);
SAME_PLACE(Extent, height, ::cudaExtent, height);
SAME_PLACE(Extent, depth, ::cudaExtent, depth);
SAME_SIZE(Position, ::cudaPos);
SAME_PLACE(Position, x, ::cudaPos, x);
SAME_PLACE(Position, y, ::cudaPos, y);
SAME_PLACE(Position, z, ::cudaPos, z);
SAME_SIZE(ChannelDesc, ::cudaChannelFormatDesc);
SAME_PLACE(ChannelDesc, x, ::cudaChannelFormatDesc, x);
SAME_PLACE(ChannelDesc, y, ::cudaChannelFormatDesc, y);
SAME_PLACE(ChannelDesc, z, ::cudaChannelFormatDesc, z);
SAME_PLACE(ChannelDesc, w, ::cudaChannelFormatDesc, w);
SAME_PLACE(ChannelDesc, kind, ::cudaChannelFormatDesc, f);
SAME_SIZE(LaunchConfig, ::cudaLaunchConfig_t);
SAME_PLACE(LaunchConfig, grid, ::cudaLaunchConfig_t, gridDim);
SAME_PLACE(LaunchConfig, block, ::cudaLaunchConfig_t, blockDim);
SAME_PLACE(LaunchConfig, dynamicShared, ::cudaLaunchConfig_t, dynamicSmemBytes);
SAME_PLACE(LaunchConfig, stream, ::cudaLaunchConfig_t, stream);
SAME_PLACE(LaunchConfig, attributes, ::cudaLaunchConfig_t, attrs);
SAME_PLACE(LaunchConfig, attributeCount, ::cudaLaunchConfig_t, numAttrs);
SAME_SIZE(LaunchAttribute, ::cudaLaunchAttribute);
SAME_PLACE(LaunchAttribute, id, ::cudaLaunchAttribute, id);
SAME_PLACE(LaunchAttribute, value, ::cudaLaunchAttribute, val);
SAME_SIZE(Location, ::cudaMemLocation);
SAME_PLACE(Location, type, ::cudaMemLocation, type);
SAME_PLACE(Location, id, ::cudaMemLocation, id);
SAME_SIZE(AccessDesc, ::cudaMemAccessDesc);
SAME_PLACE(AccessDesc, location, ::cudaMemAccessDesc, location);
SAME_PLACE(AccessDesc, flags, ::cudaMemAccessDesc, flags);
SAME_SIZE(PoolProperties, ::cudaMemPoolProps);
SAME_PLACE(PoolProperties, allocationType, ::cudaMemPoolProps, allocType);
SAME_PLACE(PoolProperties, handleTypes, ::cudaMemPoolProps, handleTypes);
SAME_PLACE(PoolProperties, location, ::cudaMemPoolProps, location);
SAME_PLACE(PoolProperties, securityAttributes, ::cudaMemPoolProps, win32SecurityAttributes);
SAME_PLACE(PoolProperties, maxSize, ::cudaMemPoolProps, maxSize);
SAME_PLACE(PoolProperties, usage, ::cudaMemPoolProps, usage);
SAME_SIZE(ResourceDesc, ::cudaResourceDesc);
SAME_PLACE(ResourceDesc, type, ::cudaResourceDesc, resType);
SAME_PLACE(ResourceDesc, of, ::cudaResourceDesc, res);
SAME_PLACE(ResourceDesc, of.array.handle, ::cudaResourceDesc, res.array.array);
SAME_PLACE(ResourceDesc, of.mipmapped.handle, ::cudaResourceDesc, res.mipmap.mipmap);
SAME_PLACE(ResourceDesc, of.linear.pointer, ::cudaResourceDesc, res.linear.devPtr);
SAME_PLACE(ResourceDesc, of.linear.format, ::cudaResourceDesc, res.linear.desc);
SAME_PLACE(ResourceDesc, of.linear.bytes, ::cudaResourceDesc, res.linear.sizeInBytes);
SAME_PLACE(ResourceDesc, of.pitched.pointer, ::cudaResourceDesc, res.pitch2D.devPtr);
SAME_PLACE(ResourceDesc, of.pitched.format, ::cudaResourceDesc, res.pitch2D.desc);
SAME_PLACE(ResourceDesc, of.pitched.width, ::cudaResourceDesc, res.pitch2D.width);
SAME_PLACE(ResourceDesc, of.pitched.height, ::cudaResourceDesc, res.pitch2D.height);
SAME_PLACE(ResourceDesc, of.pitched.pitch, ::cudaResourceDesc, res.pitch2D.pitchInBytes);
SAME_PLACE(ResourceDesc, flags, ::cudaResourceDesc, flags);
SAME_SIZE(TextureDesc, ::cudaTextureDesc);
SAME_PLACE(TextureDesc, addressMode, ::cudaTextureDesc, addressMode);
SAME_PLACE(TextureDesc, filterMode, ::cudaTextureDesc, filterMode);
SAME_PLACE(TextureDesc, readMode, ::cudaTextureDesc, readMode);
SAME_PLACE(TextureDesc, sRGB, ::cudaTextureDesc, sRGB);
SAME_PLACE(TextureDesc, borderColor, ::cudaTextureDesc, borderColor);
SAME_PLACE(TextureDesc, normalizedCoords, ::cudaTextureDesc, normalizedCoords);
SAME_PLACE(TextureDesc, maxAnisotropy, ::cudaTextureDesc, maxAnisotropy);
SAME_PLACE(TextureDesc, mipmapFilterMode, ::cudaTextureDesc, mipmapFilterMode);
SAME_PLACE(TextureDesc, maxMipmapLevelClamp, ::cudaTextureDesc, maxMipmapLevelClamp);
SAME_SIZE(ViewDesc, ::cudaResourceViewDesc);
SAME_PLACE(ViewDesc, format, ::cudaResourceViewDesc, format);
SAME_PLACE(ViewDesc, lastLayer, ::cudaResourceViewDesc, lastLayer);
SAME_SIZE(KernelNodeParams, ::cudaKernelNodeParams);
SAME_PLACE(KernelNodeParams, function, ::cudaKernelNodeParams, func);
SAME_PLACE(KernelNodeParams, block, ::cudaKernelNodeParams, blockDim);
SAME_PLACE(KernelNodeParams, dynamicShared, ::cudaKernelNodeParams, sharedMemBytes);
SAME_PLACE(KernelNodeParams, arguments, ::cudaKernelNodeParams, kernelParams);
SAME_SIZE(FillNodeParams, ::cudaMemsetParams);
SAME_PLACE(FillNodeParams, value, ::cudaMemsetParams, value);
SAME_PLACE(FillNodeParams, elementSize, ::cudaMemsetParams, elementSize);
SAME_PLACE(FillNodeParams, height, ::cudaMemsetParams, height);
SAME_SIZE(HostNodeParams, ::cudaHostNodeParams);
SAME_SIZE(AllocateNodeParams, ::cudaMemAllocNodeParams);
SAME_PLACE(AllocateNodeParams, bytes, ::cudaMemAllocNodeParams, bytesize);
SAME_PLACE(AllocateNodeParams, pointer, ::cudaMemAllocNodeParams, dptr);
SAME_SIZE(CopyNodeParams, ::cudaMemcpyNodeParams);
SAME_PLACE(CopyNodeParams, copy, ::cudaMemcpyNodeParams, copyParams);
SAME_SIZE(NodeParams, ::cudaGraphNodeParams);
SAME_PLACE(NodeParams, of.kernel, ::cudaGraphNodeParams, kernel);
SAME_PLACE(NodeParams, of.child.graph, ::cudaGraphNodeParams, graph.graph);
SAME_PLACE(NodeParams, of.free.pointer, ::cudaGraphNodeParams, free.dptr);
SAME_PLACE(NodeParams, reserved2, ::cudaGraphNodeParams, reserved2);
SAME_SIZE(EdgeData, ::cudaGraphEdgeData);
SAME_SIZE(InstantiateParams, ::cudaGraphInstantiateParams);
SAME_PLACE(InstantiateParams, result, ::cudaGraphInstantiateParams, result_out);
SAME_SIZE(UpdateResult, ::cudaGraphExecUpdateResultInfo);
SAME_NUMBER(NodeType::Host, ::cudaGraphNodeTypeHost);
SAME_NUMBER(NodeType::EventRecord, ::cudaGraphNodeTypeEventRecord);
SAME_NUMBER(NodeType::Free, ::cudaGraphNodeTypeMemFree);
SAME_NUMBER(NodeType::Conditional, ::cudaGraphNodeTypeConditional);
SAME_NUMBER(CaptureMode::Relaxed, ::cudaStreamCaptureModeRelaxed);
SAME_NUMBER(CaptureStatus::Active, ::cudaStreamCaptureStatusActive);
SAME_SIZE(Dim3, ::dim3);
SAME_PLACE(Dim3, x, ::dim3, x);
SAME_PLACE(Dim3, y, ::dim3, y);
SAME_PLACE(Dim3, z, ::dim3, z);

SAME_NUMBER(CopyKind::HostToHost, ::cudaMemcpyHostToHost);
SAME_NUMBER(CopyKind::HostToDevice, ::cudaMemcpyHostToDevice);
SAME_NUMBER(CopyKind::DeviceToHost, ::cudaMemcpyDeviceToHost);
SAME_NUMBER(CopyKind::DeviceToDevice, ::cudaMemcpyDeviceToDevice);
SAME_NUMBER(CopyKind::Default, ::cudaMemcpyDefault);
SAME_NUMBER(MemoryType::Unregistered, ::cudaMemoryTypeUnregistered);
SAME_NUMBER(MemoryType::Host, ::cudaMemoryTypeHost);
SAME_NUMBER(MemoryType::Device, ::cudaMemoryTypeDevice);
SAME_NUMBER(MemoryType::Managed, ::cudaMemoryTypeManaged);
SAME_NUMBER(ChannelKind::Signed, ::cudaChannelFormatKindSigned);
SAME_NUMBER(ChannelKind::Unsigned, ::cudaChannelFormatKindUnsigned);
SAME_NUMBER(ChannelKind::Float, ::cudaChannelFormatKindFloat);
SAME_NUMBER(ChannelKind::None, ::cudaChannelFormatKindNone);
SAME_NUMBER(FunctionAttribute::MaxDynamicSharedMemorySize, ::cudaFuncAttributeMaxDynamicSharedMemorySize);
SAME_NUMBER(FunctionAttribute::PreferredSharedMemoryCarveout,
            ::cudaFuncAttributePreferredSharedMemoryCarveout);
SAME_NUMBER(FunctionAttribute::ClusterSchedulingPolicyPreference,
            ::cudaFuncAttributeClusterSchedulingPolicyPreference);
SAME_NUMBER(Limit::StackSize, ::cudaLimitStackSize);
SAME_NUMBER(Limit::MallocHeapSize, ::cudaLimitMallocHeapSize);
SAME_NUMBER(Limit::PersistingL2CacheSize, ::cudaLimitPersistingL2CacheSize);
SAME_NUMBER(LaunchAttributeId::Cooperative, ::cudaLaunchAttributeCooperative);
SAME_NUMBER(LaunchAttributeId::ClusterDimension, ::cudaLaunchAttributeClusterDimension);
SAME_NUMBER(LaunchAttributeId::Priority, ::cudaLaunchAttributePriority);
SAME_NUMBER(LaunchAttributeId::PreferredSharedMemoryCarveout,
            ::cudaLaunchAttributePreferredSharedMemoryCarveout);
SAME_NUMBER(PoolAttribute::ReleaseThreshold, ::cudaMemPoolAttrReleaseThreshold);
SAME_NUMBER(PoolAttribute::UsedMemHigh, ::cudaMemPoolAttrUsedMemHigh);
SAME_NUMBER(StreamNonBlocking, cudaStreamNonBlocking);
SAME_NUMBER(EventBlockingSync, cudaEventBlockingSync);
SAME_NUMBER(EventDisableTiming, cudaEventDisableTiming);
SAME_NUMBER(EventInterprocess, cudaEventInterprocess);
SAME_NUMBER(HostAllocPortable, cudaHostAllocPortable);
SAME_NUMBER(HostAllocMapped, cudaHostAllocMapped);
SAME_NUMBER(HostAllocWriteCombined, cudaHostAllocWriteCombined);
SAME_NUMBER(HostRegisterMapped, cudaHostRegisterMapped);
SAME_NUMBER(HostRegisterReadOnly, cudaHostRegisterReadOnly);
SAME_NUMBER(AttachGlobal, cudaMemAttachGlobal);
SAME_NUMBER(AttachHost, cudaMemAttachHost);
SAME_NUMBER(AttachSingle, cudaMemAttachSingle);
SAME_NUMBER(ArrayLayered, cudaArrayLayered);
SAME_NUMBER(ArraySurface, cudaArraySurfaceLoadStore);
SAME_NUMBER(ArrayCubemap, cudaArrayCubemap);
SAME_NUMBER(ArrayGather, cudaArrayTextureGather);

SAME_NUMBER(Error::Success, ::cudaSuccess);
SAME_NUMBER(Error::InvalidValue, ::cudaErrorInvalidValue);
SAME_NUMBER(Error::InvalidConfiguration, ::cudaErrorInvalidConfiguration);
SAME_NUMBER(Error::IllegalAddress, ::cudaErrorIllegalAddress);
SAME_NUMBER(Error::LaunchFailure, ::cudaErrorLaunchFailure);
SAME_NUMBER(Error::CooperativeLaunchTooLarge, ::cudaErrorCooperativeLaunchTooLarge);
SAME_NUMBER(Error::StreamCaptureImplicit, ::cudaErrorStreamCaptureImplicit);
SAME_NUMBER(Error::Unknown, ::cudaErrorUnknown);

} // namespace
} // namespace kcheck::cuda

TEST(CudaAbi, AgreesWithTheToolkit) { SUCCEED(); } // checked while compiling
#else
TEST(CudaAbi, AgreesWithTheToolkit) { GTEST_SKIP() << "no CUDA toolkit to compare with"; }
#endif
