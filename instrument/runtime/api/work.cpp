// Performs stream work: copies and fills with their shadow, kernels, host functions, event records and waits.
#include "instrument/runtime/api/work.h"

#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/graph.h"
#include "instrument/runtime/api/later.h"
#include "instrument/runtime/api/memory_use.h"
#include "instrument/runtime/api/padding.h"
#include "instrument/runtime/api/pointers.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/api/round_trips.h"
#include "instrument/runtime/api/services.h"
#include "instrument/runtime/api/stream.h"
#include "instrument/runtime/core/host_guard.h"
#include "instrument/runtime/core/host_heap.h"
#include "instrument/runtime/core/host_threads.h"
#include "instrument/runtime/core/launch.h"
#include "instrument/runtime/core/managed.h"
#include "instrument/runtime/core/memory.h"

#include <algorithm>
#include <cstring>

namespace kcheck::runtime::api {
namespace {

using cuda::CopyKind;

template <class... Cases> struct Overloaded : Cases... {
  using Cases::operator()...;
};

/// Calls visit(target row, source row, bytes) with rows joined where both sides are contiguous.
template <class Visit> void forRows(const CopyWork& work, Visit&& visit) {
  bool rowsJoin = work.height == 1 || (work.to.pitch == work.width && work.from.pitch == work.width);
  std::size_t slice = work.width * work.height;
  bool slicesJoin = work.depth == 1 || (work.to.slicePitch == slice && work.from.slicePitch == slice);
  if (rowsJoin && slicesJoin) return visit(work.to.base, work.from.base, slice * work.depth);
  for (std::size_t z = 0; z < work.depth; ++z)
    for (std::size_t y = 0; y < work.height; ++y)
      visit(work.to.base + z * work.to.slicePitch + y * work.to.pitch,
            work.from.base + z * work.from.slicePitch + y * work.from.pitch, work.width);
}

void copyRow(std::byte* to, const std::byte* from, std::size_t bytes, Where toWhere, Where fromWhere,
             std::uint64_t stream, void* caller) {
  DeviceAccess access; // what the host may not touch yet is known when it ends
  std::memmove(to, from, bytes);
  if (fromWhere != Where::Host) markReadByHost(from, bytes, stream, caller);
  if (toWhere == Where::Host) return;
  if (fromWhere == Where::Device)
    copyShadow(to, from, bytes, stream, caller); // what nobody wrote stays unwritten
  else
    markWrittenByHost(to, bytes, stream, caller);
}

/// The first byte that somebody should have written, or `bytes`.
std::size_t firstMissing(const std::byte* from, std::size_t bytes) {
  std::vector<Gap> gaps;
  std::size_t shift = reinterpret_cast<std::uintptr_t>(from) % 16;
  for (std::size_t at = firstUnwritten(from, bytes); at < bytes;
       at += firstUnwritten(from + at, bytes - at)) {
    std::size_t end = at + 1;
    while (end < bytes && end - at <= kLongestPadding && firstUnwritten(from + end, 1) == 0) ++end;
    if (end - at > kLongestPadding) return at;
    gaps.push_back({at + shift, end + shift});
    at = end;
  }
  return gaps.empty() || arePadding(gaps, bytes) ? bytes : gaps.front().begin - shift;
}

/// As many of the bytes as the host has there; that it has fewer is told.
std::size_t withinHeap(const void* row, std::size_t bytes, bool write, const CopyWork& work) {
  const std::optional<std::size_t> room = tooLittleRoom(row, bytes);
  if (!room) return bytes;
  reportBadHostRange(bytes, *room, write, work.function, work.caller);
  return *room;
}

void performCopy(CopyWork work, std::uint64_t stream) {
  if (work.width == 0 || work.height == 0 || work.depth == 0) return;
  lookAtManagedPages();
  Where to = whereIs(work.to.base), from = whereIs(work.from.base);
  bool fromHost = from == Where::Host || from == Where::Pinned,
       toHost = to == Where::Host || to == Where::Pinned;
  bool isOneRow = work.height == 1 && work.depth == 1;
  auto fitting = [&](const std::byte* toRow, const std::byte* fromRow, std::size_t bytes) {
    if (to == Where::Host) bytes = withinHeap(toRow, bytes, true, work);
    return from == Where::Host ? withinHeap(fromRow, bytes, false, work) : bytes;
  };
  if (isOneRow) work.width = fitting(work.to.base, work.from.base, work.width);
  if (isOneRow && fromHost && to == Where::Device) noteCopyToDevice(work.from.base, work.width, work.caller);
  forRows(work, [&](std::byte* toRow, const std::byte* fromRow, std::size_t bytes) {
    if (!isOneRow) bytes = fitting(toRow, fromRow, bytes);
    if (from == Where::Device && toHost) {
      std::size_t first = firstMissing(fromRow, bytes);
      if (first < bytes) reportUnwrittenOutput(fromRow, bytes, first, work.caller);
    }
    copyRow(toRow, fromRow, bytes, to, from, stream, work.caller);
  });
  if (isOneRow && toHost && from == Where::Device)
    noteCopyToHost(work.to.base, work.from.base, work.width, work.caller);
}

void fillRow(std::byte* row, std::size_t bytes, std::uint32_t value, unsigned elementBytes) {
  if (elementBytes == 1) {
    std::memset(row, int(value & 0xff), bytes);
    return;
  }
  for (std::size_t i = 0; i + elementBytes <= bytes; i += elementBytes)
    std::memcpy(row + i, &value, elementBytes);
}

void performFill(const FillWork& work, std::uint64_t stream) {
  for (std::size_t z = 0; z < work.depth; ++z)
    for (std::size_t y = 0; y < work.height; ++y) {
      std::byte* row = work.to.base + z * work.to.slicePitch + y * work.to.pitch;
      DeviceAccess access;
      fillRow(row, work.width, work.value, work.elementBytes);
      if (whereIs(row) != Where::Host) markWrittenByHost(row, work.width, stream, work.caller);
    }
}

void performKernel(const KernelWork& work, std::uint64_t stream) {
  noteKernel();
  flushPrintf(); // CUDA writes what was printed before at the next launch
  LaunchConfig config;
  config.grid = {work.grid.x, work.grid.y, work.grid.z};
  config.block = {work.block.x, work.block.y, work.block.z};
  config.dynamicShared = work.dynamicShared;
  config.stream = stream;
  config.cooperative = work.cooperative;
  config.mayWait = work.mayWait;
  config.caller = work.caller;
  launch(*work.kernel, config, work.arguments);
  raiseErrorsOfLaunches();
}

void performEvent(const EventWork& work, std::uint64_t stream) {
  if (!resolve(work.event)) return; // destroyed since the node was made
  if (work.wait) {
    if (work.event->recorded) streamWaits(stream, work.event->id);
    return;
  }
  work.event->recorded = true;
  work.event->when = std::chrono::steady_clock::now();
  eventRecorded(work.event->id, stream);
}

/// The bytes from the first to the last that a shape touches.
std::size_t span(const Side& side, std::size_t width, std::size_t height, std::size_t depth) {
  return (depth - 1) * side.slicePitch + (height - 1) * side.pitch + width;
}

/// One side of a copy: is it where the direction says, does it stay in its allocation?
Error checkSide(const Side& side, std::size_t bytes, bool written, bool wantsDevice, bool wantsHost,
                const char* function, void* caller) {
  Where where = whereIs(side.base);
  if (wantsDevice && where == Where::Host && !isRegisteredHost(side.base)) {
    reportWrongSpace(side.base, function,
                     "the copy direction asks for device memory, and this is host memory", caller);
    return Error::InvalidValue;
  }
  if (wantsHost && where == Where::Device) {
    reportWrongSpace(side.base, function,
                     "the copy direction asks for host memory, and this is device memory", caller);
    return Error::InvalidValue;
  }
  if (isOfKernelHeap(side.base)) {
    reportWrongSpace(side.base, function,
                     "the memory is of malloc or new in a kernel, and only kernels reach that heap", caller);
    return Error::InvalidValue;
  }
  if (where == Where::Host || staysInside(side.base, bytes)) return Error::Success;
  reportBadRange(side.base, bytes, written, function, caller);
  return Error::InvalidValue;
}

} // namespace

Error check(const CopyWork& work) {
  if (work.width == 0 || work.height == 0 || work.depth == 0) return Error::Success;
  if (work.kind < CopyKind::HostToHost || work.kind > CopyKind::Default) return Error::InvalidMemcpyDirection;
  if (!work.to.base || !work.from.base) return Error::InvalidValue;
  if (work.height > 1 && (work.to.pitch < work.width || work.from.pitch < work.width))
    return Error::InvalidPitchValue;
  bool toDevice = work.kind == CopyKind::HostToDevice || work.kind == CopyKind::DeviceToDevice;
  bool fromDevice = work.kind == CopyKind::DeviceToHost || work.kind == CopyKind::DeviceToDevice;
  bool open = work.kind == CopyKind::Default;
  Error error = checkSide(work.to, span(work.to, work.width, work.height, work.depth), true,
                          !open && toDevice, !open && !toDevice, work.function, work.caller);
  if (error != Error::Success) return error;
  return checkSide(work.from, span(work.from, work.width, work.height, work.depth), false,
                   !open && fromDevice, !open && !fromDevice, work.function, work.caller);
}

Error check(const FillWork& work) {
  if (work.width == 0 || work.height == 0 || work.depth == 0) return Error::Success;
  if (!work.to.base) return Error::InvalidValue;
  if (work.height > 1 && work.to.pitch < work.width) return Error::InvalidValue;
  if (whereIs(work.to.base) == Where::Host && !isRegisteredHost(work.to.base)) {
    reportWrongSpace(work.to.base, work.function, "it fills device memory, and this is host memory",
                     work.caller);
    return Error::InvalidValue;
  }
  return checkSide(work.to, span(work.to, work.width, work.height, work.depth), true, false, false,
                   work.function, work.caller);
}

void raiseErrorsOfLaunches() {
  const bool askew = someLaunchWasAskew();
  switch (deviceFault()) {
  case DeviceFault::None:
    if (askew) raisePassingError(Error::MisalignedAddress);
    return;
  case DeviceFault::IllegalAddress: return raiseDeviceError(Error::IllegalAddress);
  case DeviceFault::Assert: return raiseDeviceError(Error::Assert);
  case DeviceFault::Trap: return raiseDeviceError(Error::LaunchFailure);
  case DeviceFault::Timeout: return raiseDeviceError(Error::LaunchTimeout);
  }
}

void perform(const Work& work, std::uint64_t stream) {
  std::visit(Overloaded{
                 [](const EmptyWork&) {},
                 [&](const KernelWork& w) { performKernel(w, stream); },
                 [&](const CopyWork& w) { performCopy(w, stream); },
                 [&](const FillWork& w) { performFill(w, stream); },
                 [&](const HostWork& w) {
                   // The function may read what the stream has computed. Who has only submitted it knows
                   // nothing of that yet.
                   {
                     const AsCalledThread called;
                     streamSynchronized(stream);
                     w.function(w.userData);
                   }
                   hideFromHost(); // what the function has looked at too
                 },
                 [&](const EventWork& w) { performEvent(w, stream); },
                 [&](const AllocateWork&) {}, // the address is there since the node was made
                 [](const FreeWork& w) {
                   if (!w.ofGraph) freeLinear(w.pointer, true, "cudaFreeAsync", w.caller);
                 },
                 [&](const ChildWork& w) { performGraph(w.graph, stream); },
             },
             work);
}

Error submit(cuda::StreamHandle handle, Work work) {
  cuda::Stream* stream = resolve(handle);
  if (!stream) return Error::InvalidResourceHandle;
  if (stream->capturing) return capture(*stream, std::move(work));
  if (stream == &streamTable().legacy)
    if (Error error = legacyStreamAllowed(); error != Error::Success) return error;
  std::lock_guard lock(streamTable().working);
  if (anythingLives() && putOff(*stream, work)) return Error::Success;
  orderWithLegacy(*stream);
  perform(work, stream->id);
  noteWhatLives();
  if (anythingLives()) goOn();
  return Error::Success;
}

} // namespace kcheck::runtime::api
