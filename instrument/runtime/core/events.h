// What the detectors and the API layer found, on its way into the log (wire.h): one record per rule and pair
// of sites, counted after that. Nothing here words a message; the reader does.
#pragma once

#include "instrument/abi.h"
#include "instrument/runtime/core/memory.h"
#include "instrument/wire.h"

#include <cstddef>

namespace kcheck::runtime {

/// A finding with no sites, threads or memory yet.
wire::Finding emptyFinding(wire::Rule rule);

/// Fills in name, size, offset and places of allocation for an access at `address`.
void describeMemory(wire::Memory& memory, const void* address, std::uint32_t bytes);

/// Writes the finding, or counts one more of the same (rule, kernel, sites, host caller). Null when the log
/// is full.
wire::Finding* report(const wire::Finding& finding);

/// A string in the log; equal strings share one place.
wire::TextRef text(const char* string);

/// Makes the reader know the site's place.
void describeSite(std::uint32_t site);

/// What stands for a host's return address where a kernel allocates or frees; the reader knows the place.
void* devicePlace(std::uint32_t site);

/// What the API layer says: `message` is one plain sentence without a full stop; it may be null where the
/// rule and the memory say all (leak, unwritten-output). `pointer` may be null.
struct HostEvent {
  wire::Rule rule;
  void* caller = nullptr; ///< return address in host code
  const char* message = nullptr;
  const char* hint = nullptr;
  const char* kernel = nullptr;
  const void* pointer = nullptr;
  std::size_t bytes = 0; ///< accessed from `pointer` on
  bool isOfCall = false; ///< an error of a call, told where its result is thrown away
};
void reportHostEvent(const HostEvent& event);

/// Device memory that the program never freed, one finding per allocating place. For the API layer at exit.
void reportLeaks();

/// A copy to the host of [pointer, pointer + bytes) whose byte `first` nobody has written.
void reportUnwritten(const void* pointer, std::size_t bytes, std::size_t first, void* caller);

/// The program came to its normal end (exit or return from main).
void noteEnd();

} // namespace kcheck::runtime
