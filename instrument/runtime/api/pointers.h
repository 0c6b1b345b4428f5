// What kind of memory a pointer of the program means.
#pragma once

#include <cstddef>

namespace kcheck::runtime::api {

/// Device memory is for kernels alone; managed memory for both sides; pinned memory is host memory that
/// kernels may use; all other addresses are the host's own.
enum class Where { Host, Pinned, Managed, Device };
Where whereIs(const void* pointer);

/// Whether [pointer, pointer + bytes) lies in one live allocation.
bool staysInside(const void* pointer, std::size_t bytes);

/// Memory of malloc or new in a kernel: copies and fills of the host are refused.
bool isOfKernelHeap(const void* pointer);

/// Host memory that cudaHostRegister has made known.
bool isRegisteredHost(const void* pointer);

} // namespace kcheck::runtime::api
