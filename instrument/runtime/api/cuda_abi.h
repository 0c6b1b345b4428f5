// The binary interface of the CUDA 13 runtime as far as kcheck implements it: our own declarations of the
// types whose numbers and layouts host code was compiled against. No toolkit is needed to build the runtime;
// tests/runtime_api compares every number and offset with the toolkit's headers where they are installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kcheck::cuda {

enum class Error : int {
#define KC_CUDA_ERROR(name, number, text) name = number,
#include "instrument/runtime/api/cuda_errors.def"
#undef KC_CUDA_ERROR
};

enum class Attribute : int {
#define KC_DEVICE_ATTRIBUTE(name, number, value) name = number,
#include "instrument/runtime/api/device_attributes.def"
#undef KC_DEVICE_ATTRIBUTE
};

/// Passed by value in integer registers, as CUDA's type of the same size.
struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

enum class CopyKind : int { HostToHost, HostToDevice, DeviceToHost, DeviceToDevice, Default };
enum class MemoryType : int { Unregistered, Host, Device, Managed };

// Handles. A program may pass 0, 1 (legacy) or 2 (per thread) for a stream; all others are objects of ours.
struct Stream;
struct Event;
struct Array;
struct MipmappedArray;
struct Graph;
struct GraphNode;
struct GraphExec;
struct MemPool;
using StreamHandle = Stream*;
inline constexpr std::uintptr_t kLegacyStream = 1, kPerThreadStream = 2;

enum StreamFlag : unsigned { StreamDefault = 0, StreamNonBlocking = 1 };
enum EventFlag : unsigned {
  EventDefault = 0,
  EventBlockingSync = 1,
  EventDisableTiming = 2,
  EventInterprocess = 4
};
enum HostAllocFlag : unsigned { HostAllocPortable = 1, HostAllocMapped = 2, HostAllocWriteCombined = 4 };
enum HostRegisterFlag : unsigned {
  HostRegisterPortable = 1,
  HostRegisterMapped = 2,
  HostRegisterIoMemory = 4,
  HostRegisterReadOnly = 8
};
enum ManagedFlag : unsigned { AttachGlobal = 1, AttachHost = 2, AttachSingle = 4 };
enum ArrayFlag : unsigned { ArrayLayered = 1, ArraySurface = 2, ArrayCubemap = 4, ArrayGather = 8 };

struct Extent {
  std::size_t width, height, depth;
};
struct Position {
  std::size_t x, y, z;
};
struct PitchedPointer {
  void* pointer;
  std::size_t pitch, xsize, ysize;
};

struct Copy3D {
  Array* sourceArray;
  Position sourcePosition;
  PitchedPointer sourcePointer;
  Array* targetArray;
  Position targetPosition;
  PitchedPointer targetPointer;
  Extent extent;
  CopyKind kind;
};

struct PeerCopy3D {
  Array* sourceArray;
  Position sourcePosition;
  PitchedPointer sourcePointer;
  int sourceDevice;
  Array* targetArray;
  Position targetPosition;
  PitchedPointer targetPointer;
  int targetDevice;
  Extent extent;
};

enum class ChannelKind : int { Signed, Unsigned, Float, None };
struct ChannelDesc {
  int x, y, z, w; ///< bits
  ChannelKind kind;
};

enum class ResourceType : int { Array, Mipmapped, Linear, Pitched };
struct ResourceDesc {
  ResourceType type;
  union {
    struct {
      Array* handle;
    } array;
    struct {
      MipmappedArray* handle;
    } mipmapped;
    struct {
      void* pointer;
      ChannelDesc format;
      std::size_t bytes;
    } linear;
    struct {
      void* pointer;
      ChannelDesc format;
      std::size_t width, height, pitch;
    } pitched;
    int reserved[32];
  } of;
  unsigned flags;
};

struct TextureDesc {
  int addressMode[3];
  int filterMode; ///< 0 point, 1 linear
  int readMode;   ///< 0 as the texels are, 1 normalised float
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};

struct ViewDesc {
  int format; ///< 0: as the resource
  std::size_t width, height, depth;
  unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
  unsigned reserved[16];
};

struct PointerAttributes {
  MemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
  long reserved[8];
};

struct FunctionAttributes {
  std::size_t sharedBytes, constantBytes, localBytes;
  int maxThreadsPerBlock, registers, ptxVersion, binaryVersion, cacheModeCa, maxDynamicSharedBytes, carveout;
  int clusterMustBeSet, clusterWidth, clusterHeight, clusterDepth, clusterPolicy, nonPortableCluster;
  int reserved[16];
};
enum class FunctionAttribute : int {
  MaxDynamicSharedMemorySize = 8,
  PreferredSharedMemoryCarveout = 9,
  ClusterDimMustBeSet = 10,
  RequiredClusterWidth = 11,
  RequiredClusterHeight = 12,
  RequiredClusterDepth = 13,
  NonPortableClusterSizeAllowed = 14,
  ClusterSchedulingPolicyPreference = 15,
};

enum class Limit : int {
  StackSize,
  PrintfFifoSize,
  MallocHeapSize,
  DevRuntimeSyncDepth,
  DevRuntimePendingLaunchCount,
  MaxL2FetchGranularity,
  PersistingL2CacheSize,
};
inline constexpr int kLimits = 7;

enum class LaunchAttributeId : int {
  Ignore = 0,
  AccessPolicyWindow = 1,
  Cooperative = 2,
  SynchronizationPolicy = 3,
  ClusterDimension = 4,
  ClusterSchedulingPolicyPreference = 5,
  ProgrammaticStreamSerialization = 6,
  ProgrammaticEvent = 7,
  Priority = 8,
  MemSyncDomainMap = 9,
  MemSyncDomain = 10,
  PreferredClusterDimension = 11,
  LaunchCompletionEvent = 12,
  DeviceUpdatableKernelNode = 13,
  PreferredSharedMemoryCarveout = 14,
};
union LaunchAttributeValue {
  char bytes[64];
  int number;        ///< cooperative, priority, policies
  unsigned shape[3]; ///< cluster dimension
  void* pointer;     ///< base of an access window, event
};
struct LaunchAttribute {
  LaunchAttributeId id;
  char padding[4];
  LaunchAttributeValue value;
};
struct LaunchConfig {
  Dim3 grid, block;
  std::size_t dynamicShared;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned attributeCount;
};

struct Location {
  int type; ///< 0 none, 1 device, 2 host, 3 and 4 NUMA node
  int id;
};
struct AccessDesc {
  Location location;
  int flags;
};
struct PoolProperties {
  int allocationType, handleTypes;
  Location location;
  void* securityAttributes;
  std::size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};
enum class PoolAttribute : int {
  ReuseFollowEventDependencies = 1,
  ReuseAllowOpportunistic = 2,
  ReuseAllowInternalDependencies = 3,
  ReleaseThreshold = 4,
  ReservedMemCurrent = 5,
  ReservedMemHigh = 6,
  UsedMemCurrent = 7,
  UsedMemHigh = 8,
};

struct DeviceProperties {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  std::size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  std::size_t totalConstMem;
  int major, minor;
  std::size_t textureAlignment, texturePitchAlignment;
  int multiProcessorCount, integrated, canMapHostMemory;
  int maxTexture1D, maxTexture1DMipmap, maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3];
  int maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2];
  int maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3];
  int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  std::size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount;
  int unifiedAddressing, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
  int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
  int canUseHostPointerForRegisteredMem, cooperativeLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
  int deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;
  unsigned gpuPciDeviceID, gpuPciSubsystemID;
  int hostNumaMultinodeIpcSupported;
  int reserved[56];
};

struct KernelNodeParams {
  void* function;
  Dim3 grid, block;
  unsigned dynamicShared;
  void** arguments;
  void** extra;
};
struct FillNodeParams {
  void* target;
  std::size_t pitch;
  unsigned value, elementSize;
  std::size_t width, height; ///< elements, rows
};
struct HostNodeParams {
  void (*function)(void*);
  void* userData;
};
struct AllocateNodeParams {
  PoolProperties pool;
  const AccessDesc* access;
  std::size_t accessCount, bytes;
  void* pointer;
};
struct CopyNodeParams {
  int flags, reserved[3];
  Copy3D copy;
};
enum class NodeType : int {
  Kernel,
  Copy,
  Fill,
  Host,
  Graph,
  Empty,
  WaitEvent,
  EventRecord,
  SemaphoreSignal,
  SemaphoreWait,
  Allocate,
  Free,
  Conditional = 13,
};
struct NodeParams {
  NodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    KernelNodeParams kernel;
    CopyNodeParams copy;
    FillNodeParams fill;
    HostNodeParams host;
    struct {
      Graph* graph;
      int ownership;
    } child;
    struct {
      Event* event;
    } event;
    AllocateNodeParams allocate;
    struct {
      void* pointer;
    } free;
  } of;
  long long reserved2;
};
struct EdgeData {
  unsigned char fromPort, toPort, type, reserved[5];
};
enum class CaptureStatus : int { None, Active, Invalidated };
enum class CaptureMode : int { Global, ThreadLocal, Relaxed };
struct InstantiateParams {
  unsigned long long flags;
  StreamHandle uploadStream;
  GraphNode* failedNode;
  int result;
};
struct UpdateResult {
  int result; ///< 0 success, 2 topology changed, 3 node type changed, 4 function changed
  GraphNode* node;
  GraphNode* fromNode;
};

using HostFunction = void (*)(void* userData);
using StreamCallback = void (*)(StreamHandle stream, Error status, void* userData);

} // namespace kcheck::cuda
