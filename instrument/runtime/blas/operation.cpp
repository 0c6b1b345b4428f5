#include "instrument/runtime/blas/operation.h"

namespace kcheck::runtime::blas {

Operation::Operation(void* handle, const char* function, void* caller)
    : handle(resolve(handle)), call(function, caller) {}

void Operation::vector(const void* base, long count, long step, std::size_t element, Use use) {
  if (count <= 0) return;
  call.array(base, element,
             {{static_cast<std::size_t>(std::max(step, -step)) * element, static_cast<std::size_t>(count)}},
             use);
}

void Operation::matrix(const void* base, long rows, long columns, long distance, std::size_t element,
                       Use use) {
  if (rows <= 0 || columns <= 0) return;
  call.array(base, static_cast<std::size_t>(rows) * element,
             {{static_cast<std::size_t>(distance) * element, static_cast<std::size_t>(columns)}}, use);
}

void Operation::triangle(const void* base, long rows, long distance, bool upper, std::size_t element,
                         Use use) {
  const auto* first = static_cast<const std::byte*>(base);
  for (long column = 0; column < rows; ++column) {
    long from = upper ? 0 : column, count = upper ? column + 1 : rows - column;
    call.array(first + static_cast<std::size_t>(column * distance + from) * element,
               static_cast<std::size_t>(count) * element, {}, use);
  }
}

void Operation::scalar(const void* base, std::size_t element, Use use) {
  if (scalarsOnDevice()) vector(base, 1, 1, element, use);
}

Status Operation::run(bool fits, std::function<void()> work, bool givesResult) {
  if (!handle) return Status::NotInitialized;
  if (!fits) return Status::InvalidValue;
  switch (call.run(handle->stream, std::move(work), givesResult && !scalarsOnDevice())) {
  case library::Outcome::Done: return Status::Success;
  case library::Outcome::BadStream: return Status::InvalidValue;
  case library::Outcome::BadMemory:
  case library::Outcome::DeviceLost: break;
  }
  return Status::ExecutionFailed;
}

} // namespace kcheck::runtime::blas
