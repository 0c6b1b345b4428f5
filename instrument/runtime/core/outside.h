// Accesses that leave their memory: out of bounds, misaligned, freed, of the wrong side, or of no memory at
// all.
#pragma once

#include "instrument/runtime/core/access.h"
#include "instrument/wire.h"

namespace kcheck::runtime {

/// Within the arenas, but not in a live allocation or shared variable.
void reportOutside(ThreadState& thread, Address address, std::size_t bytes, std::uint32_t site,
                   AccessKind kind);
/// Outside of the array that it belongs in (own_arrays.h), perhaps in another one.
void reportBeyond(ThreadState& thread, std::uint32_t array, Address address, std::size_t bytes,
                  std::uint32_t site, AccessKind kind);
void reportMisaligned(ThreadState& thread, Address address, std::size_t bytes, std::uint32_t site,
                      AccessKind kind);
/// In a frame or on a stack of the thread.
bool isLocal(const ThreadState& thread, Address address);
/// Not in the arenas: the thread's own local memory and constants of the program are fine, all else is
/// reported.
void checkForeign(ThreadState& thread, Address address, std::size_t bytes, std::uint32_t site,
                  AccessKind kind);
/// A local array of `arrayBytes` at `base`.
void checkLocal(ThreadState& thread, Address base, std::size_t arrayBytes, Address address, std::size_t bytes,
                std::uint32_t site);

/// Ends the kernel once the thread has left its memory so often that it may never come to an end: the loop
/// around may have none.
inline constexpr std::uint32_t kMostStrays = 1u << 20;
[[noreturn]] void stopStray(ThreadState& thread);
inline void goesOn(ThreadState& thread) {
  if (thread.strays >= kMostStrays) [[unlikely]]
    stopStray(thread);
}

/// No texture or surface object is where a thread uses one: told in that sentence, and it goes no further.
[[noreturn]] void stopWithoutObject(abi::ThreadContext* thread, const char* sentence, std::uint32_t site);
/// The same of a call through a pointer.
[[noreturn]] void stopWithoutFunction(abi::ThreadContext* thread, const char* sentence, std::uint32_t site);
/// The same of an access beside the object's array.
[[noreturn]] void stopBesideObject(abi::ThreadContext* thread, const char* sentence, std::uint32_t site,
                                   AccessKind kind);

/// In memory that the toolkit's own headers keep for themselves: how they order its uses is theirs.
bool inReserved(const BlockState& block, Address address);

/// describeMemory() for global memory, and the same for the block's shared variables.
void describeAccessed(const BlockState& block, wire::Memory& memory, Address address, std::size_t bytes);

} // namespace kcheck::runtime
