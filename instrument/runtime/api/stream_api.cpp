// Streams of the program: creation, synchronisation, callbacks, attributes.
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/graph.h"
#include "instrument/runtime/api/later.h"
#include "instrument/runtime/api/pointers.h"
#include "instrument/runtime/api/stream.h"
#include "instrument/runtime/api/work.h"
#include "instrument/runtime/core/launch.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kcheck::runtime::api {
namespace {

using cuda::StreamHandle;

inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;

Error createStream(StreamHandle* stream, unsigned flags, int priority) {
  if (!stream || (flags & ~unsigned(cuda::StreamNonBlocking))) return Error::InvalidValue;
  auto own = std::make_unique<cuda::Stream>();
  own->id = newId();
  own->flags = flags;
  own->priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  streamCreated(own->id, own->blocking());
  *stream = streamTable().streams.add(std::move(own));
  return Error::Success;
}

/// Runs body(stream object) for a valid handle.
template <class Body> [[gnu::always_inline]] inline Error withStream(StreamHandle handle, Body&& body) {
  return call([&] {
    cuda::Stream* stream = resolve(handle);
    return stream ? body(*stream) : Error::InvalidResourceHandle;
  });
}

/// Success, or why the host may not wait for the stream.
Error waitAllowed(const cuda::Stream& stream) {
  if (stream.capturing) return spoilCapture(*stream.capturing, Error::StreamCaptureUnsupported);
  return allowedDuringCaptures();
}

struct CallbackData {
  cuda::StreamCallback function;
  StreamHandle stream;
  void* userData;
};

void runCallback(void* data) {
  std::unique_ptr<CallbackData> callback(static_cast<CallbackData*>(data));
  callback->function(callback->stream, Error::Success, callback->userData);
}

} // namespace
} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;
using cuda::StreamHandle;

extern "C" {

Error cudaStreamCreate(StreamHandle* stream) {
  return call([&] { return createStream(stream, cuda::StreamDefault, 0); });
}

Error cudaStreamCreateWithFlags(StreamHandle* stream, unsigned flags) {
  return call([&] { return createStream(stream, flags, 0); });
}

Error cudaStreamCreateWithPriority(StreamHandle* stream, unsigned flags, int priority) {
  return call([&] { return createStream(stream, flags, priority); });
}

Error cudaStreamDestroy(StreamHandle handle) {
  return call([&] {
    // Work in flight is completed by CUDA, and nobody has waited for it.
    std::unique_ptr<cuda::Stream> stream = streamTable().streams.remove(handle);
    if (!stream) return Error::InvalidResourceHandle;
    keep(std::move(stream));
    return Error::Success;
  });
}

Error cudaStreamSynchronize(StreamHandle handle) {
  return withStream(handle, [&](cuda::Stream& stream) {
    if (Error error = waitAllowed(stream); error != Error::Success) return error;
    hostWaitsFor(stream);
    return deviceErrorAtSynchronisation();
  });
}

Error cudaStreamQuery(StreamHandle handle) {
  return withStream(handle, [&](cuda::Stream& stream) {
    if (Error error = waitAllowed(stream); error != Error::Success) return error;
    if (anythingLives()) {
      goOn();
      if (isBusy(stream)) return Error::NotReady;
    }
    // A GPU is still busy when it is asked at once: who looks at the answer asks again or waits.
    if (std::exchange(stream.askedAt, stream.operations) != stream.operations &&
        !kcheck::runtime::isWaitedFor(stream.id))
      return Error::NotReady;
    hostWaitsFor(stream); // success means that all work is done
    return deviceErrorAtSynchronisation();
  });
}

Error cudaStreamWaitEvent(StreamHandle handle, cuda::Event* event, unsigned /*flags*/) {
  return withStream(handle, [&](cuda::Stream& stream) {
    if (!resolve(event)) return Error::InvalidResourceHandle;
    if (event->capturing) return joinCapture(stream, *event);
    return submit(handle, EventWork{event, true});
  });
}

Error cudaStreamAddCallback(StreamHandle handle, cuda::StreamCallback function, void* userData,
                            unsigned flags) {
  return withStream(handle, [&](cuda::Stream& stream) {
    if (!function || flags != 0) return Error::InvalidValue;
    if (stream.capturing) return spoilCapture(*stream.capturing, Error::StreamCaptureUnsupported);
    return submit(handle, HostWork{runCallback, new CallbackData{function, handle, userData}});
  });
}

Error cudaLaunchHostFunc(StreamHandle handle, cuda::HostFunction function, void* userData) {
  return call([&] { return function ? submit(handle, HostWork{function, userData}) : Error::InvalidValue; });
}

Error cudaStreamGetPriority(StreamHandle handle, int* priority) {
  return withStream(handle, [&](cuda::Stream& stream) {
    if (!priority) return Error::InvalidValue;
    *priority = stream.priority;
    return Error::Success;
  });
}

Error cudaStreamGetFlags(StreamHandle handle, unsigned* flags) {
  return withStream(handle, [&](cuda::Stream& stream) {
    if (!flags) return Error::InvalidValue;
    *flags = stream.flags;
    return Error::Success;
  });
}

Error cudaStreamGetId(StreamHandle handle, unsigned long long* id) {
  return withStream(handle, [&](cuda::Stream& stream) {
    if (!id) return Error::InvalidValue;
    *id = stream.id;
    return Error::Success;
  });
}

Error cudaStreamGetDevice(StreamHandle handle, int* device) {
  return withStream(handle, [&](cuda::Stream&) {
    if (!device) return Error::InvalidValue;
    *device = 0;
    return Error::Success;
  });
}

// Attributes steer caches and scheduling; priority is the one that can be read back with effect.
Error cudaStreamSetAttribute(StreamHandle handle, cuda::LaunchAttributeId id,
                             const cuda::LaunchAttributeValue* value) {
  return withStream(handle, [&](cuda::Stream& stream) {
    if (!value) return Error::InvalidValue;
    if (id == cuda::LaunchAttributeId::Priority) stream.priority = value->number;
    return Error::Success;
  });
}

Error cudaStreamGetAttribute(StreamHandle handle, cuda::LaunchAttributeId id,
                             cuda::LaunchAttributeValue* value) {
  return withStream(handle, [&](cuda::Stream& stream) {
    if (!value) return Error::InvalidValue;
    std::memset(value, 0, sizeof *value);
    if (id == cuda::LaunchAttributeId::Priority) value->number = stream.priority;
    return Error::Success;
  });
}

Error cudaStreamCopyAttributes(StreamHandle to, StreamHandle from) {
  return call([&] {
    cuda::Stream *target = resolve(to), *source = resolve(from);
    if (!target || !source) return Error::InvalidResourceHandle;
    target->priority = source->priority;
    return Error::Success;
  });
}

Error cudaStreamAttachMemAsync(StreamHandle handle, void* pointer, std::size_t /*bytes*/, unsigned flags) {
  return withStream(handle, [&](cuda::Stream&) {
    bool known = flags == cuda::AttachGlobal || flags == cuda::AttachHost || flags == cuda::AttachSingle;
    return known && whereIs(pointer) != Where::Device ? Error::Success : Error::InvalidValue;
  });
}

Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&] {
    if (least) *least = kLeastPriority;
    if (greatest) *greatest = kGreatestPriority;
    return Error::Success;
  });
}

} // extern "C"
