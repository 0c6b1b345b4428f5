// What the API layer tells the detectors: wrong uses that only host calls show. Thin: each function words
// nothing and hands the facts to core/events.h.
#pragma once

#include <cstddef>

namespace kcheck::runtime::api {

/// cudaFree and its relatives got a pointer that they cannot free. `function` is the API function's name.
void reportBadFree(const void* pointer, const char* function, const char* reason, void* caller);
/// A launch that CUDA refuses: `reason` is a plain sentence with the shape and the limit.
void reportInvalidLaunch(const char* kernel, const char* reason, void* caller);
/// A launch error that the program never asked for.
void reportUncheckedError(const char* kernel, const char* errorName, const char* errorText, void* caller);
/// A copy to the host that reads device memory from byte `first` of the range on that nobody has written.
void reportUnwrittenOutput(const void* pointer, std::size_t bytes, std::size_t first, void* caller);
/// A pointer of the wrong side: host memory where device memory is asked for, or the reverse.
void reportWrongSpace(const void* pointer, const char* function, const char* reason, void* caller);
/// A copy or fill that leaves its allocation (out-of-bounds) or touches a freed one (use-after-free).
void reportBadRange(const void* pointer, std::size_t bytes, bool write, const char* function, void* caller);
/// A copy of bytes from `offset` on that leaves a device variable, which begins at `variable` and has `size`.
void reportBadSymbolRange(const void* variable, std::size_t size, std::size_t offset, std::size_t bytes,
                          bool write, const char* function, void* caller);
/// The program ends, and has not waited for a kernel that has printed.
void reportUnseenPrint(const char* kernel, void* caller);
/// A copy of so many bytes to or from a block of the host's heap that has only `room`.
void reportBadHostRange(std::size_t bytes, std::size_t room, bool write, const char* function, void* caller);
/// The program asks for a device beside the one that it runs on.
void reportNoDevice(int device, void* caller);
/// The program uses what kcheck does not implement: said, never silently ignored.
void reportUnsupported(const char* feature, void* caller);

} // namespace kcheck::runtime::api
