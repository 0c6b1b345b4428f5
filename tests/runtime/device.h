// Kernels written by hand as the pass would write them: C++20 coroutines whose frames obey the same
// convention (first word resumes, null when done), with the hooks called in place. For tests of runtime/core
// alone.
#pragma once

#include "instrument/abi.h"
#include "instrument/runtime/core/company.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/launch.h"
#include "instrument/runtime/core/log.h"
#include "instrument/runtime/core/memory.h"
#include "instrument/wire.h"

#include <coroutine>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

extern "C" {
void kcRegisterModule(const kcheck::abi::ModuleEntry* module);
void kcRead(kcheck::abi::ThreadContext*, void*, std::uint64_t, std::uint32_t);
void kcWrite(kcheck::abi::ThreadContext*, void*, std::uint64_t, std::uint32_t);
void kcAtomic(kcheck::abi::ThreadContext*, void*, std::uint64_t, std::uint32_t, std::uint32_t);
void kcFence(kcheck::abi::ThreadContext*, std::uint32_t);
void kcLocal(kcheck::abi::ThreadContext*, void*, std::uint64_t, void*, std::uint64_t, std::uint32_t);
void* kcFrame(kcheck::abi::ThreadContext*, std::uint64_t);
void kcTrap(kcheck::abi::ThreadContext*, std::uint32_t site);
}

namespace kcheck::test {

using abi::ThreadContext;
using abi::Wait;
using abi::WaitKind;

/// The thread whose coroutine is being made.
inline ThreadContext*& starting() {
  static ThreadContext* thread = nullptr;
  return thread;
}

/// A simulated thread's coroutine.
struct Task {
  struct promise_type {
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
    static void* operator new(std::size_t bytes) { return kcFrame(starting(), bytes); }
    static void operator delete(void*, std::size_t) {}
  };
  std::coroutine_handle<promise_type> handle;
};

inline constexpr std::uint32_t kBlockScope = 1 << 4, kDeviceScope = 2 << 4;
inline constexpr std::uint32_t kAcquire = 1, kRelease = 2, kAcquireRelease = 3;

/// What kernels call; `site` is any small number.
struct Device {
  ThreadContext* thread;
  Device(ThreadContext* thread) : thread(thread) {}
  std::uint32_t x() const { return thread->threadIdx[0]; }
  std::uint32_t block() const { return thread->block->blockIdx[0]; }
  std::uint32_t blockSize() const { return thread->block->blockDim[0]; }
  std::uint32_t global() const { return block() * blockSize() + x(); }
  template <class T> T* shared() const { return reinterpret_cast<T*>(thread->block->dynamicSharedBase); }

  template <class T> T read(T* at, std::uint32_t site) const {
    kcRead(thread, at, sizeof(T), site);
    return *at;
  }
  template <class T> void write(T* at, T value, std::uint32_t site) const {
    kcWrite(thread, at, sizeof(T), site);
    *at = value;
  }
  template <class T>
  T atomicAdd(T* at, T value, std::uint32_t site, std::uint32_t order = kDeviceScope) const {
    kcAtomic(thread, at, sizeof(T), site, order | 0x300);
    T old = *at;
    *at += value;
    return old;
  }
  template <class T>
  T exchange(T* at, T value, std::uint32_t site, std::uint32_t order = kDeviceScope) const {
    kcAtomic(thread, at, sizeof(T), site, order | 0x300);
    return std::exchange(*at, value);
  }
  template <class T>
  T compareExchange(T* at, T expected, T value, std::uint32_t site,
                    std::uint32_t order = kDeviceScope) const {
    kcAtomic(thread, at, sizeof(T), site, order | 0x300);
    T old = *at;
    if (old == expected) *at = value;
    return old;
  }
  template <class T> T atomicLoad(T* at, std::uint32_t site, std::uint32_t order = kDeviceScope) const {
    kcAtomic(thread, at, sizeof(T), site, order | 0x100);
    return *at;
  }
  template <class T>
  void atomicStore(T* at, T value, std::uint32_t site, std::uint32_t order = kDeviceScope) const {
    kcAtomic(thread, at, sizeof(T), site, order | 0x200);
    *at = value;
  }
  void fence(std::uint32_t scope = 2) const { kcFence(thread, scope); }

  struct Waiting {
    ThreadContext* thread;
    Wait wait;
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<>) { thread->wait = wait; }
    const Wait& await_resume() const { return thread->wait; }
  };
  Waiting wait(WaitKind kind, std::uint32_t site, std::uint32_t a = 0, std::uint32_t b = 0,
               std::uint32_t c = 0, std::uint32_t d = 0, std::uint64_t e = 0) const {
    return {thread, {kind, site, a, b, c, d, e, 0, 0, 0}};
  }
  Waiting barrier(std::uint32_t site = 900) const { return wait(WaitKind::BlockBarrier, site); }
  Waiting syncWarp(std::uint32_t mask = ~0u, std::uint32_t site = 901) const {
    return wait(WaitKind::WarpSync, site, mask);
  }
  Waiting yield(std::uint32_t site = 902) const { return wait(WaitKind::Yield, site); }
  Waiting gridSync(std::uint32_t site = 903) const { return wait(WaitKind::GridSync, site); }
};

/// While one lives, launches run in the one order that the test is about.
struct OneOrder {
  OneOrder() { runtime::context().options.twice = false; }
  ~OneOrder() { runtime::context().options.twice = true; }
};

using Body = std::function<Task(ThreadContext*)>;

struct Shape {
  Dim3 grid, block;
  std::size_t shared = 0;
  std::uint32_t traits =
      abi::TraitsKnown | abi::TraitWarpSync | abi::TraitFences | abi::TraitNamedBarrier | abi::TraitHandsOver;
  bool cooperative = false;
  std::uint64_t stream = 0;
  bool mayWait = false; ///< then the body must live on
};

inline void* startBody(ThreadContext* thread, const void* arguments) {
  const Body* body = nullptr;
  std::memcpy(&body, arguments, sizeof body);
  starting() = thread;
  Task task = (*body)(thread);
  return task.handle.done() ? nullptr : task.handle.address();
}

/// Runs `body` as a kernel called `name`.
inline void run(const std::string& name, Shape shape, const Body& body) {
  static constexpr abi::ParameterInfo parameter{0, 8};
  // Kernels outlive the launch in CUDA, and the runtime remembers them by address.
  auto* entry = new abi::KernelEntry{};
  auto* kept = new std::string(name);
  entry->name = entry->displayName = kept->c_str();
  entry->start = startBody;
  entry->parameters = &parameter;
  entry->parameterCount = 1;
  entry->argumentBytes = 8;
  entry->canSuspend = 1;
  entry->usesGridSync = shape.traits;
  const Body* pointer = &body;
  void* arguments[] = {&pointer};
  runtime::LaunchConfig config;
  config.grid = shape.grid;
  config.block = shape.block;
  config.dynamicShared = shape.shared;
  config.cooperative = shape.cooperative;
  config.stream = shape.stream;
  config.mayWait = shape.mayWait;
  if (!shape.mayWait) runtime::endCompany(); // the same site is something else in each test
  runtime::launch(*entry, config, arguments);
}

template <class T> T* deviceArray(std::size_t count) {
  return static_cast<T*>(runtime::allocate(count * sizeof(T), runtime::MemoryKind::Device, nullptr));
}
template <class T> T* zeroedArray(std::size_t count) {
  T* array = deviceArray<T>(count);
  std::memset(array, 0, count * sizeof(T));
  runtime::markWrittenByHost(array, count * sizeof(T), 0);
  return array;
}

/// Every complete record of a kind in the log.
inline std::uint64_t firstRecord() { return (sizeof(wire::Header) + 7) & ~std::uint64_t{7}; }

template <class T> std::vector<const T*> records(wire::RecordKind kind, std::uint64_t at = firstRecord()) {
  std::vector<const T*> found;
  const auto* base = reinterpret_cast<const std::byte*>(&runtime::log().header());
  while (at < runtime::log().header().used) {
    const auto* record = reinterpret_cast<const wire::Record*>(base + at);
    if (record->kind == static_cast<std::uint32_t>(kind)) found.push_back(reinterpret_cast<const T*>(record));
    at += record->bytes;
  }
  return found;
}

inline std::string textAt(wire::TextRef reference) {
  if (!reference) return "";
  const auto* base = reinterpret_cast<const char*>(&runtime::log().header());
  return base + std::uint64_t{reference} * 8 + sizeof(wire::Record);
}

/// The findings of the kernel called `name`.
inline std::vector<const wire::Finding*> findingsOf(const std::string& name) {
  std::vector<const wire::Finding*> found;
  for (const auto* finding : records<wire::Finding>(wire::RecordKind::Finding))
    if (textAt(finding->kernel) == name && !(finding->flags & wire::Withdrawn)) found.push_back(finding);
  return found;
}

/// Rules of the kernel's findings in order, for short assertions.
inline std::vector<wire::Rule> rulesOf(const std::string& name) {
  std::vector<wire::Rule> rules;
  for (const auto* finding : findingsOf(name)) rules.push_back(finding->rule);
  return rules;
}

/// The running test's own name, so that no two tests share findings.
std::string testName();

} // namespace kcheck::test
