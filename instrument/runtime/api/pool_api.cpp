// Pitched allocations; stream-ordered allocation and its pools, prefetch and advice.
#include "instrument/runtime/api/device.h"
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/graph_nodes.h"
#include "instrument/runtime/api/handles.h"
#include "instrument/runtime/api/later.h"
#include "instrument/runtime/api/memory_use.h"
#include "instrument/runtime/api/pointers.h"
#include "instrument/runtime/api/stream.h"

#include <algorithm>

namespace kcheck::cuda {

struct MemPool {
  std::uint64_t releaseThreshold = 0;
  std::uint64_t used = 0, usedHigh = 0;
  int reuse[4] = {0, 1, 1, 1};
};

} // namespace kcheck::cuda

namespace kcheck::runtime::api {
namespace {

using cuda::MemPool;

struct Pools {
  HandleTable<MemPool> created;
  MemPool standard; ///< the device's default pool
  MemPool* current = &standard;
};

Pools& pools() {
  static auto* instance = new Pools; // outlives every exit handler
  return *instance;
}

MemPool* resolvePool(MemPool* handle) {
  if (handle == &pools().standard) return handle;
  return pools().created.contains(handle) ? handle : nullptr;
}

/// Rows start at multiples of what the texture unit asks for.
std::size_t pitchFor(std::size_t width) {
  constexpr std::size_t unit = 512;
  return (width + unit - 1) / unit * unit;
}

Error allocatePitched(void** pointer, std::size_t* pitch, std::size_t width, std::size_t rows, void* caller) {
  if (!pointer || !pitch) return Error::InvalidValue;
  *pitch = pitchFor(width);
  return allocateLinear(pointer, *pitch * rows, MemoryKind::Device, caller);
}

Error allocateInStream(void** pointer, std::size_t bytes, MemPool* pool, cuda::StreamHandle handle,
                       void* caller) {
  cuda::Stream* stream = resolve(handle);
  if (!pointer || !pool) return Error::InvalidValue;
  if (!stream) return Error::InvalidResourceHandle;
  Error error = allocateLinear(pointer, bytes, MemoryKind::Device, caller);
  if (error != Error::Success) return error;
  pool->used += bytes;
  pool->usedHigh = std::max(pool->usedHigh, pool->used);
  if (!stream->capturing && !anythingLives()) {
    std::lock_guard lock(streamTable().working);
    orderWithLegacy(*stream);
    noteAllocatedInStream(*pointer, stream->id, caller);
  }
  std::shared_ptr<void> owner = stream->capturing ? graphMemory(*pointer) : nullptr;
  return submit(handle, AllocateWork{*pointer, bytes, std::move(owner)});
}

int* reuseSwitch(MemPool& pool, cuda::PoolAttribute attribute) {
  int number = int(attribute);
  return number >= 1 && number <= 3 ? &pool.reuse[number] : nullptr;
}

} // namespace
} // namespace kcheck::runtime::api

using namespace kcheck::runtime;
using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;
using cuda::MemPool;

extern "C" {

Error cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  void* caller = __builtin_return_address(0);
  return call([&] { return allocatePitched(pointer, pitch, width, height, caller); });
}

Error cudaMalloc3D(cuda::PitchedPointer* result, cuda::Extent extent) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (!result) return Error::InvalidValue;
    result->xsize = extent.width;
    result->ysize = extent.height;
    return allocatePitched(&result->pointer, &result->pitch, extent.width, extent.height * extent.depth,
                           caller);
  });
}

Error cudaMallocAsync(void** pointer, std::size_t bytes, cuda::StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] { return allocateInStream(pointer, bytes, pools().current, stream, caller); });
}

Error cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, MemPool* pool, cuda::StreamHandle stream) {
  void* caller = __builtin_return_address(0);
  return call([&] { return allocateInStream(pointer, bytes, resolvePool(pool), stream, caller); });
}

Error cudaFreeAsync(void* pointer, cuda::StreamHandle handle) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    cuda::Stream* stream = resolve(handle);
    if (!stream) return Error::InvalidResourceHandle;
    if (!pointer) return Error::InvalidValue;
    if (anythingLives()) goOn();
    if (stream->capturing || (anythingLives() && isBusy(*stream)))
      return submit(handle, FreeWork{pointer, false, caller});
    const Allocation* allocation = find(pointer);
    std::size_t bytes = allocation ? allocation->bytes : 0;
    {
      std::lock_guard lock(streamTable().working);
      orderWithLegacy(*stream);
      checkFreedByHost(pointer, bytes, stream->id, caller);
    }
    Error error = freeLinear(pointer, true, "cudaFreeAsync", caller);
    if (error == Error::Success)
      pools().current->used -= std::min<std::uint64_t>(bytes, pools().current->used);
    return error;
  });
}

Error cudaDeviceGetDefaultMemPool(MemPool** pool, int device) {
  return call([&] {
    if (!pool) return Error::InvalidValue;
    if (device != 0) return Error::InvalidDevice;
    *pool = &pools().standard;
    return Error::Success;
  });
}

Error cudaDeviceGetMemPool(MemPool** pool, int device) {
  return call([&] {
    if (!pool) return Error::InvalidValue;
    if (device != 0) return Error::InvalidDevice;
    *pool = pools().current;
    return Error::Success;
  });
}

Error cudaDeviceSetMemPool(int device, MemPool* pool) {
  return call([&] {
    if (device != 0) return Error::InvalidDevice;
    if (!resolvePool(pool)) return Error::InvalidValue;
    pools().current = pool;
    return Error::Success;
  });
}

Error cudaMemPoolCreate(MemPool** pool, const cuda::PoolProperties* properties) {
  return call([&] {
    if (!pool || !properties) return Error::InvalidValue;
    if (properties->handleTypes != 0) return Error::NotSupported; // nothing to share memory with
    if (properties->location.type == 1 && properties->location.id != 0) return Error::InvalidDevice;
    *pool = pools().created.add(std::make_unique<MemPool>());
    return Error::Success;
  });
}

Error cudaMemPoolDestroy(MemPool* pool) {
  return call([&] {
    if (pools().current == pool) pools().current = &pools().standard;
    return pools().created.remove(pool) ? Error::Success : Error::InvalidValue;
  });
}

Error cudaMemPoolTrimTo(MemPool* pool, std::size_t /*bytes*/) {
  return call([&] { return resolvePool(pool) ? Error::Success : Error::InvalidValue; });
}

Error cudaMemPoolSetAttribute(MemPool* handle, cuda::PoolAttribute attribute, void* value) {
  return call([&] {
    MemPool* pool = resolvePool(handle);
    if (!pool || !value) return Error::InvalidValue;
    if (int* flag = reuseSwitch(*pool, attribute)) {
      *flag = *static_cast<int*>(value);
    } else if (attribute == cuda::PoolAttribute::ReleaseThreshold) {
      pool->releaseThreshold = *static_cast<std::uint64_t*>(value);
    } else if (attribute == cuda::PoolAttribute::UsedMemHigh) {
      pool->usedHigh = pool->used;
    } else if (attribute != cuda::PoolAttribute::ReservedMemHigh) {
      return Error::InvalidValue;
    }
    return Error::Success;
  });
}

Error cudaMemPoolGetAttribute(MemPool* handle, cuda::PoolAttribute attribute, void* value) {
  return call([&] {
    MemPool* pool = resolvePool(handle);
    if (!pool || !value) return Error::InvalidValue;
    if (int* flag = reuseSwitch(*pool, attribute)) {
      *static_cast<int*>(value) = *flag;
      return Error::Success;
    }
    std::uint64_t number = 0;
    switch (attribute) {
    case cuda::PoolAttribute::ReleaseThreshold: number = pool->releaseThreshold; break;
    case cuda::PoolAttribute::ReservedMemCurrent:
    case cuda::PoolAttribute::UsedMemCurrent: number = pool->used; break;
    case cuda::PoolAttribute::ReservedMemHigh:
    case cuda::PoolAttribute::UsedMemHigh: number = pool->usedHigh; break;
    default: return Error::InvalidValue;
    }
    *static_cast<std::uint64_t*>(value) = number;
    return Error::Success;
  });
}

Error cudaMemPoolSetAccess(MemPool* pool, const cuda::AccessDesc* list, std::size_t count) {
  return call([&] {
    if (!resolvePool(pool) || (!list && count)) return Error::InvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      if (list[i].location.type == 1 && list[i].location.id != 0) return Error::InvalidDevice;
    return Error::Success;
  });
}

Error cudaMemPoolGetAccess(int* flags, MemPool* pool, cuda::Location* location) {
  return call([&] {
    if (!flags || !location || !resolvePool(pool)) return Error::InvalidValue;
    *flags = location->type == 1 && location->id == 0 ? 3 : 0; // read and write
    return Error::Success;
  });
}

// Prefetch and advice change where pages are, never what a program may do or sees.

Error cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cuda::Location location, unsigned flags,
                           cuda::StreamHandle handle) {
  return call([&] {
    if (!resolve(handle)) return Error::InvalidResourceHandle;
    if (flags != 0 || bytes == 0 || whereIs(pointer) != Where::Managed) return Error::InvalidValue;
    return location.type == 1 && location.id != 0 ? Error::InvalidDevice : Error::Success;
  });
}

Error cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, cuda::Location location) {
  return call([&] {
    if (advice < 1 || advice > 6 || bytes == 0 || whereIs(pointer) != Where::Managed)
      return Error::InvalidValue;
    return location.type == 1 && location.id != 0 ? Error::InvalidDevice : Error::Success;
  });
}

} // extern "C"
