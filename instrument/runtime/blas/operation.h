// One cuBLAS call: its vectors and matrices as memory that it reads and writes, and its work in the stream of
// its handle.
#pragma once

#include "instrument/runtime/core/host_guard.h"
#include "instrument/runtime/library/call.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace kcheck::runtime::blas {

using library::Use;

enum class Status : int {
  Success = 0,
  NotInitialized = 1,
  InvalidValue = 7,
  ExecutionFailed = 13,
  NotSupported = 15
};

struct Handle {
  cuda::StreamHandle stream = nullptr;
  int pointerMode = 0; ///< 0: scalars in host memory, 1: in device memory
  int mathMode = 0, atomicsMode = 0;
};

/// Null for what cublasCreate did not make.
Handle* resolve(void* handle);

class Operation {
public:
  Operation(void* handle, const char* function, void* caller);

  /// Every `step`-th element. A step below zero goes backwards from the end, as BLAS has it.
  void vector(const void* base, long count, long step, std::size_t element, Use use);
  /// By columns, `distance` elements apart.
  void matrix(const void* base, long rows, long columns, long distance, std::size_t element, Use use);
  /// The upper or lower half of a square matrix.
  void triangle(const void* base, long rows, long distance, bool upper, std::size_t element, Use use);
  /// A factor or a result: in host memory, unless the handle says otherwise.
  void scalar(const void* base, std::size_t element, Use use);

  /// Appends an array of pointers in device memory; false when it cannot be read, which run() then tells.
  template <class T> bool collect(const T* const* from, long count, std::vector<const T*>& pointers) const {
    std::size_t bytes = static_cast<std::size_t>(std::max(count, 0L)) * sizeof(T*);
    if (!library::Call::mayRead(from, bytes)) return false;
    DeviceAccess access;
    pointers.insert(pointers.end(), from, from + std::max(count, 0L));
    return true;
  }

  bool scalarsOnDevice() const { return handle && handle->pointerMode == 1; }
  /// `fits`: the numbers are as cuBLAS wants them. `givesResult`: the host waits for a result in its memory.
  Status run(bool fits, std::function<void()> work, bool givesResult = false);

private:
  Handle* handle;
  library::Call call;
};

} // namespace kcheck::runtime::blas
