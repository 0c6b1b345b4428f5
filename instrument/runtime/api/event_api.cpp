// Events: recording, waiting, and the time between two of them (the host's clock, since kernels run at once).
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/graph.h"
#include "instrument/runtime/api/later.h"
#include "instrument/runtime/api/services.h"
#include "instrument/runtime/api/stream.h"
#include "instrument/runtime/api/work.h"
#include "instrument/runtime/core/launch.h"

#include <algorithm>
#include <utility>

namespace kcheck::runtime::api {
namespace {

inline constexpr float kLeastMilliseconds = 0.001f; ///< two records are never at the same time

Error createEvent(cuda::Event** event, unsigned flags) {
  constexpr unsigned known = cuda::EventBlockingSync | cuda::EventDisableTiming | cuda::EventInterprocess;
  if (!event || (flags & ~known)) return Error::InvalidValue;
  if ((flags & cuda::EventInterprocess) && !(flags & cuda::EventDisableTiming)) return Error::InvalidValue;
  auto own = std::make_unique<cuda::Event>();
  own->id = newId();
  own->flags = flags;
  *event = streamTable().events.add(std::move(own));
  return Error::Success;
}

Error recordEvent(cuda::Event* event, cuda::StreamHandle handle) {
  cuda::Stream* stream = resolve(handle);
  if (!stream || !resolve(event)) return Error::InvalidResourceHandle;
  if (stream->capturing) return recordInCapture(*event, *stream);
  event->capturing = nullptr;
  return submit(handle, EventWork{event, false});
}

/// Success when the event's work is done; the host has then waited for it.
Error completed(cuda::Event* event, bool waits) {
  if (!resolve(event)) return Error::InvalidResourceHandle;
  if (event->capturing) return spoilCapture(*event->capturing, Error::CapturedEvent);
  if (Error error = allowedDuringCaptures(); error != Error::Success) return error;
  if (anythingLives()) {
    if (waits)
      waitFor(*event);
    else
      goOn();
    if (!waits && isBusy(*event)) return Error::NotReady;
  }
  // A GPU is still busy when it is asked at once: who looks at the answer asks again or waits.
  if (!waits && event->recorded && !std::exchange(event->asked, true) && !isEventWaitedFor(event->id))
    return Error::NotReady;
  if (event->recorded) eventSynchronized(event->id);
  flushPrintf();
  return deviceErrorAtSynchronisation();
}

} // namespace
} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;

extern "C" {

Error cudaEventCreate(cuda::Event** event) {
  return call([&] { return createEvent(event, cuda::EventDefault); });
}

Error cudaEventCreateWithFlags(cuda::Event** event, unsigned flags) {
  return call([&] { return createEvent(event, flags); });
}

Error cudaEventDestroy(cuda::Event* event) {
  return call(
      [&] { return streamTable().events.remove(event) ? Error::Success : Error::InvalidResourceHandle; });
}

Error cudaEventRecord(cuda::Event* event, cuda::StreamHandle stream) {
  return call([&] { return recordEvent(event, stream); });
}

Error cudaEventRecordWithFlags(cuda::Event* event, cuda::StreamHandle stream, unsigned /*flags*/) {
  return call([&] { return recordEvent(event, stream); });
}

Error cudaEventSynchronize(cuda::Event* event) {
  return call([&] { return completed(event, true); });
}

Error cudaEventQuery(cuda::Event* event) {
  return call([&] { return completed(event, false); });
}

Error cudaEventElapsedTime(float* milliseconds, cuda::Event* start, cuda::Event* end) {
  return call([&] {
    if (!milliseconds) return Error::InvalidValue;
    if (!resolve(start) || !resolve(end)) return Error::InvalidResourceHandle;
    if ((start->flags | end->flags) & cuda::EventDisableTiming) return Error::InvalidResourceHandle;
    if (anythingLives() && (isBusy(*start) || isBusy(*end))) return Error::NotReady;
    if (!start->recorded || !end->recorded) return Error::InvalidResourceHandle;
    *milliseconds = 0;
    if (start == end) return Error::Success;
    std::chrono::duration<float, std::milli> time = end->when - start->when;
    *milliseconds = end->when < start->when ? std::min(time.count(), -kLeastMilliseconds)
                                            : std::max(time.count(), kLeastMilliseconds);
    return Error::Success;
  });
}

} // extern "C"
