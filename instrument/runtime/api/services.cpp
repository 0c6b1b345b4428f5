// What kernels call: printf, malloc, free, clock (abi_calls.def). Output is kept and written when the host
// synchronises, as CUDA does, so that it stands where a GPU's output would stand among the host's own.
#include "instrument/runtime/api/services.h"

#include "instrument/abi.h"
#include "instrument/runtime/api/device_state.h"
#include "instrument/runtime/api/memory_use.h"
#include "instrument/runtime/api/printf_format.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/launch.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/rows.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>

namespace kcheck::runtime::api {
namespace {

inline constexpr std::size_t kKeepAtMost = 1 << 20; ///< bytes of output before it is written early

/// A launch that has printed; of several from one place the latest.
struct Printing {
  const char* kernel;
  OperationNumber operation;
};

struct PrintState {
  std::mutex mutex;
  std::string text;
  std::map<void*, Printing> launches; ///< by the host code that launched

  void write() {
    std::fwrite(text.data(), 1, text.size(), stdout);
    text.clear();
  }
};

PrintState& printState() {
  static PrintState* state = new PrintState; // outlives every exit handler
  return *state;
}

std::atomic<std::size_t>& heapBytes() {
  static std::atomic<std::size_t> bytes{0};
  return bytes;
}

} // namespace

void flushPrintf() {
  std::lock_guard lock(printState().mutex);
  if (printState().text.empty()) return;
  printState().write();
}

void hostSeesPrints() {
  std::lock_guard lock(printState().mutex);
  printState().launches.clear();
}

void reportUnseenPrints() {
  if (deviceFaulted()) return; // told, and nothing can be waited for
  std::lock_guard lock(printState().mutex);
  for (const auto& [caller, printing] : printState().launches)
    if (!hostHasWaitedFor(printing.operation)) reportUnseenPrint(printing.kernel, caller);
}

} // namespace kcheck::runtime::api

using namespace kcheck::runtime;
using namespace kcheck::runtime::api;
using kcheck::abi::ThreadContext;

extern "C" {

int kcPrintf(ThreadContext* thread, const char* format, const void* arguments) {
  LaunchState& launch = *static_cast<ThreadState*>(thread)->owner().launch;
  leaveShare(launch); // the order of lines is that of one thread
  std::lock_guard lock(printState().mutex);
  if (isRehearsal()) {
    std::string unseen;
    return formatPacked(unseen, format, arguments);
  }
  printState().launches[launch.config.caller] = {launch.kernel->displayName, latestOperation()};
  int count = formatPacked(printState().text, format, arguments);
  if (printState().text.size() > kKeepAtMost) printState().write();
  return count;
}

void* kcMalloc(ThreadContext* thread, std::size_t bytes, std::uint32_t site) {
  if (isRehearsal()) leaveRehearsal(thread);
  if (bytes == 0) return nullptr;
  leaveShare(*static_cast<ThreadState*>(thread)->owner().launch);
  std::size_t heap = deviceState().limit(kcheck::cuda::Limit::MallocHeapSize);
  if (heapBytes().fetch_add(bytes) + bytes > heap) {
    heapBytes() -= bytes;
    return nullptr;
  }
  return allocate(bytes, MemoryKind::Heap, devicePlace(site));
}

void kcFree(ThreadContext* thread, void* pointer, std::uint32_t site) {
  if (isRehearsal()) leaveRehearsal(thread);
  auto& state = *static_cast<ThreadState*>(thread);
  leaveShare(*state.owner().launch);
  settleRows(*state.owner().launch);
  if (!pointer) return;
  const Allocation* allocation = find(pointer);
  std::size_t bytes = allocation ? allocation->bytes : 0;
  const bool mayBeFreed =
      allocation && allocation->live && allocation->kind == MemoryKind::Heap && allocation->base == pointer;
  if (mayBeFreed) checkFree(state, reinterpret_cast<Address>(pointer), bytes, site);
  FreeResult result = release(pointer, MemoryKind::Heap, devicePlace(site));
  if (result == FreeResult::Ok)
    heapBytes() -= bytes;
  else
    reportBadFree(pointer, "free in a kernel",
                  result == FreeResult::AlreadyFreed
                      ? "the memory was freed before"
                      : "the pointer does not come from malloc in a kernel; the "
                        "host's cudaFree frees what its cudaMalloc allocates",
                  devicePlace(site));
}

std::int64_t kcClock(ThreadContext* thread) {
  leaveShare(*static_cast<ThreadState*>(thread)->owner().launch);
  // Cycles of the virtual device's clock.
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return (passed + static_cast<std::int64_t>(lookAtClock())) * 141 / 100;
}

} // extern "C"
