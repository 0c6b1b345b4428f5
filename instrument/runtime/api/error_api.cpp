// The error functions of the CUDA runtime, and the error state behind them.
#include "instrument/runtime/api/errors.h"

#include "instrument/runtime/api/reports.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace kcheck::runtime::api {
namespace {

struct ErrorEntry {
  Error error;
  const char* name;
  const char* text;
};

constexpr ErrorEntry kErrors[] = {
#define KC_CUDA_ERROR(name, number, text)                                                                    \
  {Error::name, (number) == 0 ? "cuda" #name : "cudaError" #name, text},
#include "instrument/runtime/api/cuda_errors.def"
#undef KC_CUDA_ERROR
};

const ErrorEntry* entryOf(Error error) {
  for (const ErrorEntry& entry : kErrors)
    if (entry.error == error) return &entry;
  return nullptr;
}

struct UnreadError {
  Error error = Error::Success;
  const char* kernel = nullptr;
  void* caller = nullptr;
};

struct ThreadErrors;

struct ErrorState {
  std::atomic<Error> pending{Error::Success}, sticky{Error::Success}, passing{Error::Success};
  std::atomic<Error> passed{Error::Success}; ///< the last that a kernel has left behind so
  std::mutex mutex;
  std::vector<ThreadErrors*> threads; ///< that live
  std::vector<UnreadError> unread;    ///< of threads that have ended
};

ErrorState& state() {
  static ErrorState* instance = new ErrorState; // outlives every exit handler
  return *instance;
}

struct ThreadErrors {
  Error last = Error::Success;
  UnreadError launch;
  std::vector<UnreadError> calls; ///< that nobody has asked for since

  ThreadErrors() {
    std::lock_guard lock(state().mutex);
    state().threads.push_back(this);
  }
  ~ThreadErrors() {
    std::lock_guard lock(state().mutex);
    std::erase(state().threads, this);
    leaveUnread();
  }

  void leaveUnread() const {
    if (launch.error != Error::Success) state().unread.push_back(launch);
    state().unread.insert(state().unread.end(), calls.begin(), calls.end());
  }
};

ThreadErrors& threadErrors() {
  thread_local ThreadErrors errors;
  return errors;
}

Error readLastError(bool clear) {
  ThreadErrors& errors = threadErrors();
  errors.launch = {};
  errors.calls.clear();
  Error last = errors.last;
  if (clear) errors.last = Error::Success;
  return last;
}

} // namespace

const char* errorName(Error error) {
  const ErrorEntry* entry = entryOf(error);
  return entry ? entry->name : nullptr;
}

const char* errorText(Error error) {
  const ErrorEntry* entry = entryOf(error);
  return entry ? entry->text : nullptr;
}

void raiseDeviceError(Error error) {
  Error none = Error::Success;
  state().pending.compare_exchange_strong(none, error);
}

void raisePassingError(Error error) { state().passing = error; }

Error deviceErrorAtSynchronisation() {
  Error pending = state().pending, passing = state().passing.exchange(Error::Success);
  if (pending != Error::Success) state().sticky = pending;
  if (passing != Error::Success) state().passed = passing;
  return pending != Error::Success ? pending : passing;
}

Error stickyError() { return state().sticky; }

void clearDeviceError() {
  state().pending = Error::Success;
  state().sticky = Error::Success;
  state().passing = Error::Success;
}

/// What only says how far work is, or that this run has one device, and what an error of a kernel leaves
/// behind.
static bool isWorthTelling(Error error) {
  switch (error) {
  case Error::Success:
  case Error::NotReady:
  case Error::InvalidDevice:
  case Error::NotSupported: return false;
  default: return error != stickyError() && error != state().passed;
  }
}

Error remember(Error error, void* caller) {
  constexpr std::size_t kMostCalls = 16;
  if (error == Error::Success) return error;
  ThreadErrors& errors = threadErrors();
  errors.last = error;
  const bool isKnown =
      std::ranges::any_of(errors.calls, [&](const UnreadError& one) { return one.caller == caller; });
  if (caller && isWorthTelling(error) && !isKnown && errors.calls.size() < kMostCalls)
    errors.calls.push_back({error, nullptr, caller});
  return error;
}

Error rememberLaunchError(Error error, const char* kernel, void* caller) {
  if (error == Error::Success) return error;
  ThreadErrors& errors = threadErrors();
  if (errors.launch.error == Error::Success) errors.launch = {error, kernel, caller};
  return remember(error);
}

void reportUnreadErrors() {
  std::lock_guard lock(state().mutex);
  for (const ThreadErrors* thread : state().threads) thread->leaveUnread();
  for (const UnreadError& unread : state().unread)
    reportUncheckedError(unread.kernel, errorName(unread.error), errorText(unread.error), unread.caller);
  state().unread.clear();
}

} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;

extern "C" {

Error cudaGetLastError() { return readLastError(true); }

Error cudaPeekAtLastError() { return readLastError(false); }

const char* cudaGetErrorName(Error error) {
  const char* name = errorName(error);
  return name ? name : "unrecognized error code";
}

const char* cudaGetErrorString(Error error) {
  const char* text = errorText(error);
  return text ? text : "unrecognized error code";
}
}
