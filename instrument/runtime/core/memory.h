// Device memory as the checked program sees it: allocations in fixed arenas, one per space, with redzones,
// quarantine and a shadow. The CUDA API layer (api/) allocates and copies through this header; the engine
// checks against it.
#pragma once

#include "report/location.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace kcheck::runtime {

/// Heap: of malloc in a kernel, which the host does not reach.
enum class MemoryKind : std::uint8_t { Device, Managed, Pinned, Array, Symbol, Constant, Heap };

/// A live or quarantined allocation. `base` is what the program got.
struct Allocation {
  std::uint64_t id = 0;
  void* base = nullptr;
  std::size_t bytes = 0;
  MemoryKind kind = MemoryKind::Device;
  bool live = true;
  void* allocatedAt = nullptr; ///< return address in host code, resolved to file:line when reported
  void* freedAt = nullptr;
  const char* name = nullptr;             ///< of a symbol; null for heap allocations
  std::size_t writtenFrom = 0;            ///< the bytes before have been seen written
  std::uint64_t stream = 0, sequence = 0; ///< the operation in a stream that allocates it; 0: none
};

/// Null when there is no room. Device and managed memory starts uninitialised; `caller` is the host return
/// address.
void* allocate(std::size_t bytes, MemoryKind kind, void* caller);

enum class FreeResult : std::uint8_t { Ok, NotAnAllocation, NotTheStart, AlreadyFreed, WrongKind };
FreeResult release(void* pointer, MemoryKind kind, void* caller);

/// The allocation that contains `pointer`, or the nearest one when it lies in a redzone or quarantine; null
/// when the address is not device memory at all.
const Allocation* find(const void* pointer);
bool isDeviceAddress(const void* pointer);

/// Host memory that the program has made known to the device (cudaHostRegister): kernels may use it; races
/// and initialisation are not watched there.
void registerHostRange(const void* pointer, std::size_t bytes);
void unregisterHostRange(const void* pointer);
bool isRegisteredHost(const void* pointer, std::size_t bytes);

/// The host's variable that stands for a variable of the device in host code, by whose name both go.
void registerHostCopy(const void* copy, std::size_t bytes, const char* symbol);
/// The symbol of the device variable whose copy of the host has this address; null when none has.
const char* symbolOfHostCopy(const void* address);

/// What host-side operations (copies, memset) do to the shadow. `stream` orders them (0: the legacy default
/// stream); `caller` is the host return address, `library` the function of a library that does it.
void markWrittenByHost(void* pointer, std::size_t bytes, std::uint64_t stream, void* caller = nullptr,
                       const char* library = nullptr);
void markReadByHost(const void* pointer, std::size_t bytes, std::uint64_t stream, void* caller = nullptr,
                    const char* library = nullptr);
/// Whether the stream that frees the range comes after all that other streams do with it.
void checkFreedByHost(void* pointer, std::size_t bytes, std::uint64_t stream, void* caller);
/// cudaFree of what a stream has allocated waits for nothing.
void checkFreedAtOnce(void* pointer, void* caller);
/// The memory is there for what comes after an operation of the stream, which begins now.
void noteAllocatedInStream(void* pointer, std::uint64_t stream, void* caller);
/// Copies initialisation state along with content.
void copyShadow(void* to, const void* from, std::size_t bytes, std::uint64_t stream, void* caller = nullptr);
/// First byte in [pointer, pointer + bytes) that nobody wrote, or `bytes` when all are written.
std::size_t firstUnwritten(const void* pointer, std::size_t bytes);

} // namespace kcheck::runtime
