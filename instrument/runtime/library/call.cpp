#include "instrument/runtime/library/call.h"

#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/later.h"
#include "instrument/runtime/api/pointers.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/api/round_trips.h"
#include "instrument/runtime/api/stream.h"
#include "instrument/runtime/api/work.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/host_guard.h"
#include "instrument/runtime/core/managed.h"

#include <algorithm>
#include <mutex>

namespace kcheck::runtime::library {

using api::Where;

void Call::array(const void* base, std::size_t bytes, std::vector<Step> steps, Use use) {
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.bytes < b.bytes; });
  std::vector<Step> apart; // what does not join to longer runs
  for (const Step& step : steps) {
    if (step.count == 0) return;
    if (apart.empty() && step.bytes == bytes)
      bytes *= step.count;
    else if (step.count > 1 && step.bytes > 0)
      apart.push_back(step);
  }
  if (bytes == 0) return;
  arrays.push_back({static_cast<std::byte*>(const_cast<void*>(base)), bytes, std::move(apart), use});
}

std::size_t Call::Array::span() const {
  std::size_t last = 0;
  for (const Step& step : steps) last += step.bytes * (step.count - 1);
  return last + bytes;
}

template <class Visit> void Call::Array::forRuns(Visit visit) const {
  std::vector<std::size_t> at(steps.size());
  for (std::byte* run = base;;) {
    visit(run);
    std::size_t level = 0;
    for (; level < steps.size(); ++level) {
      run += steps[level].bytes;
      if (++at[level] < steps[level].count) break;
      run -= steps[level].bytes * steps[level].count;
      at[level] = 0;
    }
    if (level == steps.size()) return;
  }
}

bool Call::mayRead(const void* base, std::size_t bytes) {
  return api::whereIs(base) != Where::Host && api::staysInside(base, bytes);
}

bool Call::isInside(const Array& array) const {
  if (api::whereIs(array.base) == Where::Host) {
    if (api::isRegisteredHost(array.base)) return true;
    api::reportWrongSpace(array.base, function, "it wants device memory here", caller);
    return false;
  }
  if (api::staysInside(array.base, array.span())) return true;
  api::reportBadRange(array.base, array.span(), array.use != Use::Read, function, caller);
  return false;
}

void Call::before(std::uint64_t stream) const {
  lookAtManagedPages();
  for (const Array& array : arrays) {
    if (array.use == Use::Write || api::whereIs(array.base) == Where::Host) continue;
    bool told = false;
    array.forRuns([&](std::byte* run) {
      if (std::size_t first = told ? array.bytes : firstUnwritten(run, array.bytes); first < array.bytes) {
        HostEvent event{.rule = wire::Rule::UninitializedRead, .caller = caller};
        event.pointer = run + first;
        event.bytes = array.bytes - first;
        reportHostEvent(event);
        told = true;
      }
      markReadByHost(run, array.bytes, stream, caller, function);
    });
  }
}

void Call::after(std::uint64_t stream) const {
  for (const Array& array : arrays) {
    if (array.use == Use::Read || api::whereIs(array.base) == Where::Host) continue;
    array.forRuns([&](std::byte* run) { markWrittenByHost(run, array.bytes, stream, caller, function); });
  }
}

Outcome Call::run(cuda::StreamHandle handle, std::function<void()> work, bool hostWaits) const {
  const InRuntime here;
  if (api::stickyError() != cuda::Error::Success) return Outcome::DeviceLost;
  for (const Array& array : arrays)
    if (!isInside(array)) return Outcome::BadMemory;
  cuda::Stream* stream = api::resolve(handle);
  if (!stream) return Outcome::BadStream;
  auto perform = [call = *this, work = std::move(work), number = stream->id] {
    api::noteKernel();
    DeviceAccess access; // what the host may not touch yet is known when it ends
    call.before(number);
    work();
    call.after(number);
  };
  if (stream->capturing) { // kept for good: it runs whenever the graph does
    auto* kept = new std::function<void()>(perform);
    api::HostWork task{[](void* data) { (*static_cast<std::function<void()>*>(data))(); }, kept};
    return api::submit(handle, task) == cuda::Error::Success ? Outcome::Done : Outcome::BadStream;
  }
  api::waitFor(*stream);
  std::lock_guard lock(api::streamTable().working);
  api::orderWithLegacy(*stream);
  perform();
  if (hostWaits) api::hostWaitsFor(*stream);
  return Outcome::Done;
}

} // namespace kcheck::runtime::library
