// Allocation of linear memory: device, managed, pinned and registered host memory; what a pointer is.
#include "instrument/runtime/api/device.h"
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/graph.h"
#include "instrument/runtime/api/later.h"
#include "instrument/runtime/api/memory_use.h"
#include "instrument/runtime/api/pointers.h"
#include "instrument/runtime/api/registry.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/api/services.h"
#include "instrument/runtime/core/memory.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace kcheck::runtime::api {
namespace {

struct RegisteredRange {
  std::size_t bytes;
  unsigned flags;
};

struct MemoryState {
  std::mutex mutex;
  std::map<std::uintptr_t, RegisteredRange> registered; ///< by start
  std::map<std::uintptr_t, unsigned> hostFlags;         ///< of cudaHostAlloc, by start
  std::size_t used = 0;                                 ///< device and managed bytes
};

MemoryState& state() {
  static MemoryState* instance = new MemoryState; // outlives every exit handler
  return *instance;
}

std::uintptr_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

const RegisteredRange* registeredRange(const void* pointer, std::uintptr_t* start = nullptr) {
  auto after = state().registered.upper_bound(number(pointer));
  if (after == state().registered.begin()) return nullptr;
  --after;
  if (number(pointer) >= after->first + after->second.bytes) return nullptr;
  if (start) *start = after->first;
  return &after->second;
}

const char* ownFunction(const Allocation* allocation) {
  if (!allocation) return "the memory is of another kind and has its own function to free it";
  switch (allocation->kind) {
  case MemoryKind::Device: return "the memory is the device's, which cudaFree frees";
  case MemoryKind::Managed: return "the memory is managed, which cudaFree frees";
  case MemoryKind::Pinned:
    return "the memory is of cudaMallocHost or cudaHostAlloc, which cudaFreeHost frees";
  case MemoryKind::Array:
    return "the memory is an array's, which cudaFreeArray or cudaFreeMipmappedArray frees";
  case MemoryKind::Heap:
    return "the memory is of malloc or new in a kernel, and only a kernel reaches and frees that heap";
  case MemoryKind::Symbol:
  case MemoryKind::Constant: return "the memory is a variable's, which nothing frees";
  }
  return "the memory is of another kind and has its own function to free it";
}

const char* reasonOf(FreeResult result, const void* pointer) {
  switch (result) {
  case FreeResult::Ok: return nullptr;
  case FreeResult::NotAnAllocation:
    return isRegisteredHost(pointer)
               ? "the memory was registered, which cudaHostUnregister ends, and free or "
                 "delete[] frees it as it was allocated"
               : "the pointer was not allocated by CUDA; what comes from malloc or new "
                 "goes to free or delete";
  case FreeResult::NotTheStart: return "the pointer is inside an allocation, not at its start";
  case FreeResult::AlreadyFreed: return "the memory was freed before";
  case FreeResult::WrongKind: return ownFunction(find(pointer));
  }
  return "the pointer cannot be freed";
}

/// As allocateLinear(), where the program itself asks for it.
Error allocateNow(void** pointer, std::size_t bytes, MemoryKind kind, void* caller) {
  if (Error error = allowedDuringCaptures(); error != Error::Success) return error;
  return allocateLinear(pointer, bytes, kind, caller);
}

bool deviceKind(MemoryKind kind) { return kind == MemoryKind::Device || kind == MemoryKind::Managed; }

} // namespace

Where whereIs(const void* pointer) {
  const Allocation* allocation = find(pointer);
  if (!allocation) return Where::Host;
  if (allocation->kind == MemoryKind::Pinned) return Where::Pinned;
  bool managed = allocation->kind == MemoryKind::Managed ||
                 (allocation->kind == MemoryKind::Symbol && isManagedVariable(allocation->base));
  return managed ? Where::Managed : Where::Device;
}

bool staysInside(const void* pointer, std::size_t bytes) {
  const Allocation* allocation = find(pointer);
  if (!allocation || !allocation->live) return false;
  std::uintptr_t base = number(allocation->base), first = number(pointer);
  return first >= base && first - base <= allocation->bytes && bytes <= allocation->bytes - (first - base);
}

bool isOfKernelHeap(const void* pointer) {
  const Allocation* allocation = find(pointer);
  return allocation && allocation->kind == MemoryKind::Heap;
}

bool isRegisteredHost(const void* pointer) {
  std::lock_guard lock(state().mutex);
  return registeredRange(pointer) != nullptr;
}

Error allocateLinear(void** pointer, std::size_t bytes, MemoryKind kind, void* caller) {
  if (!pointer) return Error::InvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return Error::Success;
  if (deviceKind(kind)) {
    std::lock_guard lock(state().mutex);
    if (bytes > kGlobalMemory - state().used) return Error::MemoryAllocation;
    state().used += bytes;
  }
  *pointer = allocate(bytes, kind, caller);
  if (*pointer) return Error::Success;
  if (deviceKind(kind)) {
    std::lock_guard lock(state().mutex);
    state().used -= bytes;
  }
  return Error::MemoryAllocation;
}

Error freeLinear(void* pointer, bool device, const char* function, void* caller) {
  if (!pointer) return Error::Success;
  MemoryKind kind = device ? MemoryKind::Device : MemoryKind::Pinned;
  std::size_t bytes = 0;
  if (const Allocation* allocation = find(pointer)) {
    if (device && deviceKind(allocation->kind)) kind = allocation->kind;
    bytes = allocation->bytes;
  }
  FreeResult result = release(pointer, kind, caller);
  if (const char* reason = reasonOf(result, pointer)) {
    reportBadFree(pointer, function, reason, caller);
    return Error::InvalidValue;
  }
  std::lock_guard lock(state().mutex);
  state().hostFlags.erase(number(pointer));
  if (device) state().used -= std::min(bytes, state().used);
  return Error::Success;
}

bool freedAsHosts(void* pointer, const char* function, void* caller) {
  const Allocation* allocation = isDeviceAddress(pointer) ? find(pointer) : nullptr;
  if (!allocation) return false;
  const bool isWhole = allocation->live && allocation->base == pointer;
  const char* reason =
      isWhole ? ownFunction(allocation) : reasonOf(release(pointer, allocation->kind, caller), pointer);
  reportBadFree(pointer, function, reason, caller);
  if (isWhole) release(pointer, allocation->kind, caller); // as the program means it
  return true;
}

std::size_t deviceBytesInUse() {
  std::lock_guard lock(state().mutex);
  return state().used;
}

} // namespace kcheck::runtime::api

using namespace kcheck::runtime;
using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;

// The program's calls of free() and its uses of delete come here (pass/link.cpp), which would end it where
// the memory is CUDA's.
#define KC_FREE(symbol, name, parameters, arguments)                                                         \
  __attribute__((weak)) void __real_##symbol parameters;                                                     \
  void __wrap_##symbol parameters {                                                                          \
    if (!freedAsHosts(pointer, name, __builtin_return_address(0))) __real_##symbol arguments;                \
  }

extern "C" {

KC_FREE(free, "free", (void* pointer), (pointer))
KC_FREE(_ZdlPv, "delete", (void* pointer), (pointer))
KC_FREE(_ZdlPvm, "delete", (void* pointer, std::size_t bytes), (pointer, bytes))
KC_FREE(_ZdaPv, "delete[]", (void* pointer), (pointer))
KC_FREE(_ZdaPvm, "delete[]", (void* pointer, std::size_t bytes), (pointer, bytes))

Error cudaMalloc(void** pointer, std::size_t bytes) {
  void* caller = __builtin_return_address(0);
  return call([&] { return allocateNow(pointer, bytes, MemoryKind::Device, caller); });
}

Error cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (flags != cuda::AttachGlobal && flags != cuda::AttachHost) return Error::InvalidValue;
    return allocateNow(pointer, bytes, MemoryKind::Managed, caller);
  });
}

Error cudaFree(void* pointer) {
  void* caller = __builtin_return_address(0);
  if (pointer) hostSeesPrints();
  return call([&] {
    if (!pointer) return Error::Success;
    if (Error error = allowedDuringCaptures(); error != Error::Success) return error;
    tryToEndAll();
    checkFreedAtOnce(pointer, caller);
    return freeLinear(pointer, true, "cudaFree", caller);
  });
}

Error cudaMallocHost(void** pointer, std::size_t bytes) {
  void* caller = __builtin_return_address(0);
  return call([&] { return allocateNow(pointer, bytes, MemoryKind::Pinned, caller); });
}

Error cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (flags & ~unsigned(cuda::HostAllocPortable | cuda::HostAllocMapped | cuda::HostAllocWriteCombined))
      return Error::InvalidValue;
    Error error = allocateNow(pointer, bytes, MemoryKind::Pinned, caller);
    if (error == Error::Success && *pointer) {
      std::lock_guard lock(state().mutex);
      state().hostFlags[number(*pointer)] = flags;
    }
    return error;
  });
}

Error cudaFreeHost(void* pointer) {
  void* caller = __builtin_return_address(0);
  if (pointer) hostSeesPrints();
  return call([&] {
    if (!pointer) return Error::Success;
    if (Error error = allowedDuringCaptures(); error != Error::Success) return error;
    tryToEndAll();
    return freeLinear(pointer, false, "cudaFreeHost", caller);
  });
}

Error cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return call([&] {
    if (!pointer || bytes == 0) return Error::InvalidValue;
    std::lock_guard lock(state().mutex);
    auto& ranges = state().registered;
    auto after = ranges.lower_bound(number(pointer) + bytes);
    if (after != ranges.begin() && std::prev(after)->first + std::prev(after)->second.bytes > number(pointer))
      return Error::HostMemoryAlreadyRegistered;
    ranges[number(pointer)] = {bytes, flags};
    registerHostRange(pointer, bytes);
    return Error::Success;
  });
}

Error cudaHostUnregister(void* pointer) {
  return call([&] {
    tryToEndAll();
    std::lock_guard lock(state().mutex);
    if (!state().registered.erase(number(pointer))) return Error::HostMemoryNotRegistered;
    unregisterHostRange(pointer);
    return Error::Success;
  });
}

Error cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call([&] {
    if (!device || flags != 0) return Error::InvalidValue;
    if (whereIs(host) != Where::Pinned && !isRegisteredHost(host)) return Error::InvalidValue;
    *device = host; // unified addresses
    return Error::Success;
  });
}

Error cudaHostGetFlags(unsigned* flags, void* host) {
  return call([&] {
    if (!flags) return Error::InvalidValue;
    std::lock_guard lock(state().mutex);
    if (const RegisteredRange* range = registeredRange(host)) {
      *flags = range->flags | cuda::HostRegisterMapped;
      return Error::Success;
    }
    if (whereIs(host) != Where::Pinned) return Error::InvalidValue;
    auto found = state().hostFlags.find(number(host));
    *flags = (found == state().hostFlags.end() ? 0u : found->second) | cuda::HostAllocMapped;
    return Error::Success;
  });
}

Error cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call([&] {
    if (!free || !total) return Error::InvalidValue;
    *total = kGlobalMemory;
    *free = kGlobalMemory - deviceBytesInUse();
    return Error::Success;
  });
}

Error cudaPointerGetAttributes(cuda::PointerAttributes* attributes, const void* pointer) {
  return call([&] {
    if (!attributes) return Error::InvalidValue;
    *attributes = {};
    void* address = const_cast<void*>(pointer);
    attributes->device = 0;
    switch (pointer ? whereIs(pointer) : Where::Host) {
    case Where::Device:
      attributes->type = cuda::MemoryType::Device;
      attributes->devicePointer = address;
      return Error::Success;
    case Where::Managed: attributes->type = cuda::MemoryType::Managed; break;
    case Where::Pinned: attributes->type = cuda::MemoryType::Host; break;
    case Where::Host:
      if (!isRegisteredHost(pointer)) {
        attributes->type = cuda::MemoryType::Unregistered;
        attributes->device = -2; // cudaInvalidDeviceId
        attributes->hostPointer = address;
        return Error::Success;
      }
      attributes->type = cuda::MemoryType::Host;
      break;
    }
    attributes->devicePointer = address;
    attributes->hostPointer = address;
    return Error::Success;
  });
}

} // extern "C"
