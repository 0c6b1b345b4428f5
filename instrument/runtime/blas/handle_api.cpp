// cuBLAS's handles and settings, and its copies between host and device.
#include "instrument/runtime/blas/calls.h"
#include "instrument/runtime/core/events.h"

#include <mutex>
#include <set>

namespace kcheck::runtime::blas {
namespace {

struct Handles {
  std::mutex guard;
  std::set<void*> all;
};
Handles& handles() {
  static auto* const table = new Handles; // programs may use it until the very end
  return *table;
}

} // namespace

Handle* resolve(void* handle) {
  std::lock_guard lock(handles().guard);
  return handles().all.contains(handle) ? static_cast<Handle*>(handle) : nullptr;
}

namespace {

template <class Change> Status with(void* handle, Change change) {
  Handle* known = resolve(handle);
  if (!known) return Status::NotInitialized;
  change(*known);
  return Status::Success;
}

} // namespace
} // namespace kcheck::runtime::blas

using namespace kcheck;
using namespace kcheck::runtime;
using namespace kcheck::runtime::blas;

extern "C" {

int cudaMemcpy2D(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int);
int cudaMemcpy2DAsync(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int, void*);

Status cublasCreate_v2(void** handle) {
  if (!handle) return Status::InvalidValue;
  if (!isInstalled()) {
    HostEvent event{.rule = wire::Rule::Unsupported, .caller = __builtin_return_address(0)};
    event.message = "cuBLAS without a BLAS library on this machine (on Debian: apt-get install libblas3)";
    reportHostEvent(event);
    return Status::NotInitialized;
  }
  auto* made = new Handle;
  std::lock_guard lock(handles().guard);
  handles().all.insert(made);
  *handle = made;
  return Status::Success;
}

Status cublasDestroy_v2(void* handle) {
  Handle* known = resolve(handle);
  if (!known) return Status::NotInitialized;
  std::lock_guard lock(handles().guard);
  handles().all.erase(known);
  delete known;
  return Status::Success;
}

Status cublasGetVersion_v2(void* /*handle*/, int* version) {
  if (!version) return Status::InvalidValue;
  *version = 130000;
  return Status::Success;
}

Status cublasSetStream_v2(void* handle, cuda::StreamHandle stream) {
  return with(handle, [&](Handle& known) { known.stream = stream; });
}
Status cublasGetStream_v2(void* handle, cuda::StreamHandle* stream) {
  return with(handle, [&](Handle& known) { *stream = known.stream; });
}
Status cublasSetPointerMode_v2(void* handle, int mode) {
  if (mode != 0 && mode != 1) return Status::InvalidValue;
  return with(handle, [&](Handle& known) { known.pointerMode = mode; });
}
Status cublasGetPointerMode_v2(void* handle, int* mode) {
  return with(handle, [&](Handle& known) { *mode = known.pointerMode; });
}
Status cublasSetMathMode(void* handle, int mode) {
  return with(handle, [&](Handle& known) { known.mathMode = mode; });
}
Status cublasGetMathMode(void* handle, int* mode) {
  return with(handle, [&](Handle& known) { *mode = known.mathMode; });
}
Status cublasSetAtomicsMode(void* handle, int mode) {
  return with(handle, [&](Handle& known) { known.atomicsMode = mode; });
}
Status cublasGetAtomicsMode(void* handle, int* mode) {
  return with(handle, [&](Handle& known) { *mode = known.atomicsMode; });
}
Status cublasSetWorkspace_v2(void* handle, void*, std::size_t) {
  return with(handle, [](Handle&) {});
}

const char* cublasGetStatusName(Status status) {
  switch (status) {
  case Status::Success: return "CUBLAS_STATUS_SUCCESS";
  case Status::NotInitialized: return "CUBLAS_STATUS_NOT_INITIALIZED";
  case Status::InvalidValue: return "CUBLAS_STATUS_INVALID_VALUE";
  case Status::ExecutionFailed: return "CUBLAS_STATUS_EXECUTION_FAILED";
  case Status::NotSupported: return "CUBLAS_STATUS_NOT_SUPPORTED";
  }
  return "CUBLAS_STATUS_INTERNAL_ERROR";
}
const char* cublasGetStatusString(Status status) {
  switch (status) {
  case Status::Success: return "success";
  case Status::NotInitialized: return "the library was not initialized";
  case Status::InvalidValue: return "an unsupported value or parameter was passed to the function";
  case Status::ExecutionFailed: return "the function failed to launch on the GPU";
  case Status::NotSupported: return "the functionality requested is not supported";
  }
  return "an internal operation failed";
}

// Copies answer as cudaMemcpy2D does, whose checks and order they share: rows of one element, or columns.
static Status copied(int error) { return error == 0 ? Status::Success : Status::ExecutionFailed; }
static std::size_t bytes(int count, int element) {
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(element);
}

#define KC_BLAS_COPIES(name, kind)                                                                           \
  Status cublas##name##Vector(int n, int element, const void* from, int fromStep, void* to, int toStep) {    \
    if (n < 0 || element <= 0 || fromStep <= 0 || toStep <= 0) return Status::InvalidValue;                  \
    return copied(cudaMemcpy2D(to, bytes(toStep, element), from, bytes(fromStep, element),                   \
                               bytes(1, element), bytes(n, 1), kind));                                       \
  }                                                                                                          \
  Status cublas##name##VectorAsync(int n, int element, const void* from, int fromStep, void* to, int toStep, \
                                   void* stream) {                                                           \
    if (n < 0 || element <= 0 || fromStep <= 0 || toStep <= 0) return Status::InvalidValue;                  \
    return copied(cudaMemcpy2DAsync(to, bytes(toStep, element), from, bytes(fromStep, element),              \
                                    bytes(1, element), bytes(n, 1), kind, stream));                          \
  }                                                                                                          \
  Status cublas##name##Matrix(int rows, int columns, int element, const void* from, int fromDistance,        \
                              void* to, int toDistance) {                                                    \
    if (rows < 0 || columns < 0 || element <= 0 || !holds(fromDistance, rows) || !holds(toDistance, rows))   \
      return Status::InvalidValue;                                                                           \
    return copied(cudaMemcpy2D(to, bytes(toDistance, element), from, bytes(fromDistance, element),           \
                               bytes(rows, element), bytes(columns, 1), kind));                              \
  }                                                                                                          \
  Status cublas##name##MatrixAsync(int rows, int columns, int element, const void* from, int fromDistance,   \
                                   void* to, int toDistance, void* stream) {                                 \
    if (rows < 0 || columns < 0 || element <= 0 || !holds(fromDistance, rows) || !holds(toDistance, rows))   \
      return Status::InvalidValue;                                                                           \
    return copied(cudaMemcpy2DAsync(to, bytes(toDistance, element), from, bytes(fromDistance, element),      \
                                    bytes(rows, element), bytes(columns, 1), kind, stream));                 \
  }
KC_BLAS_COPIES(Set, 1)
KC_BLAS_COPIES(Get, 2)

} // extern "C"
