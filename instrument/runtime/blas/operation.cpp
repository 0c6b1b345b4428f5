#include "instrument/runtime/blas/operation.h"

#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/pointers.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/api/stream.h"
#include "instrument/runtime/api/work.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/host_guard.h"
#include "instrument/runtime/core/managed.h"

#include <algorithm>
#include <mutex>

namespace kcheck::runtime::blas {

using api::Where;

Operation::Operation(void* handle, const char* function, void* caller)
    : handle(resolve(handle)), function(function), caller(caller) {}

void Operation::vector(const void* base, long count, long step, std::size_t element, Use use) {
  if (count <= 0) return;
  auto* first = static_cast<std::byte*>(const_cast<void*>(base));
  auto distance = static_cast<std::size_t>(std::max(step, -step));
  if (distance == 1)
    pieces.push_back({first, static_cast<std::size_t>(count) * element, 0, 1, use});
  else
    pieces.push_back(
        {first, element, distance * element, distance ? static_cast<std::size_t>(count) : 1, use});
}

void Operation::matrix(const void* base, long rows, long columns, long distance, std::size_t element,
                       Use use) {
  if (rows <= 0 || columns <= 0) return;
  auto* first = static_cast<std::byte*>(const_cast<void*>(base));
  pieces.push_back({first, static_cast<std::size_t>(rows) * element,
                    static_cast<std::size_t>(distance) * element, static_cast<std::size_t>(columns), use});
}

void Operation::triangle(const void* base, long rows, long distance, bool upper, std::size_t element,
                         Use use) {
  auto* first = static_cast<std::byte*>(const_cast<void*>(base));
  for (long column = 0; column < rows; ++column) {
    long from = upper ? 0 : column, count = upper ? column + 1 : rows - column;
    pieces.push_back({first + static_cast<std::size_t>(column * distance + from) * element,
                      static_cast<std::size_t>(count) * element, 0, 1, use});
  }
}

void Operation::scalar(const void* base, std::size_t element, Use use) {
  if (scalarsOnDevice()) vector(base, 1, 1, element, use);
}

bool Operation::mayRead(const void* base, std::size_t bytes) {
  return api::whereIs(base) != Where::Host && api::staysInside(base, bytes);
}

bool Operation::isInside(const Piece& piece) const {
  std::size_t all = (piece.count - 1) * piece.step + piece.bytes;
  if (api::whereIs(piece.base) == Where::Host) {
    if (api::isRegisteredHost(piece.base)) return true;
    api::reportWrongSpace(piece.base, function, "it wants device memory here", caller);
    return false;
  }
  if (api::staysInside(piece.base, all)) return true;
  api::reportBadRange(piece.base, all, piece.use != Use::Read, function, caller);
  return false;
}

void Operation::before(std::uint64_t stream) const {
  lookAtManagedPages();
  for (const Piece& piece : pieces) {
    if (piece.use == Use::Write || api::whereIs(piece.base) == Where::Host) continue;
    bool told = false;
    for (std::size_t i = 0; i < piece.count; ++i) {
      std::byte* row = piece.base + i * piece.step;
      if (std::size_t first = firstUnwritten(row, piece.bytes); first < piece.bytes && !told) {
        HostEvent event{.rule = wire::Rule::UninitializedRead, .caller = caller};
        event.pointer = row + first;
        event.bytes = piece.bytes - first;
        reportHostEvent(event);
        told = true;
      }
      markReadByHost(row, piece.bytes, stream, caller);
    }
  }
}

void Operation::after(std::uint64_t stream) const {
  for (const Piece& piece : pieces) {
    if (piece.use == Use::Read || api::whereIs(piece.base) == Where::Host) continue;
    for (std::size_t i = 0; i < piece.count; ++i)
      markWrittenByHost(piece.base + i * piece.step, piece.bytes, stream, caller);
  }
}

Status Operation::run(bool fits, std::function<void()> work, bool givesResult) {
  if (!handle) return Status::NotInitialized;
  if (!fits) return Status::InvalidValue;
  if (api::stickyError() != cuda::Error::Success) return Status::ExecutionFailed;
  for (const Piece& piece : pieces)
    if (!isInside(piece)) return Status::ExecutionFailed;
  cuda::Stream* stream = api::resolve(handle->stream);
  if (!stream) return Status::InvalidValue;
  auto perform = [operation = *this, work = std::move(work), number = stream->id] {
    operation.before(number);
    {
      DeviceAccess access;
      work();
    }
    operation.after(number);
  };
  if (stream->capturing) { // kept for good: it runs whenever the graph does
    auto* kept = new std::function<void()>(perform);
    api::HostWork task{[](void* data) { (*static_cast<std::function<void()>*>(data))(); }, kept};
    bool done = api::submit(handle->stream, task) == cuda::Error::Success;
    return done ? Status::Success : Status::ExecutionFailed;
  }
  std::lock_guard lock(api::streamTable().working);
  api::orderWithLegacy(*stream);
  perform();
  if (givesResult && !scalarsOnDevice()) api::hostWaitsFor(*stream);
  return Status::Success;
}

} // namespace kcheck::runtime::blas
