// CUDA's error state: the last error of each host thread, and the error that broke the device ("sticky":
// every call that needs the device answers it until cudaDeviceReset). Every API function goes through call(),
// so that no error is forgotten.
#pragma once

#include "instrument/runtime/api/cuda_abi.h"
#include "instrument/runtime/core/gate.h"

namespace kcheck::runtime::api {

using cuda::Error;

/// CUDA's name and sentence of an error; null when there is no error of that number.
const char* errorName(Error error);
const char* errorText(Error error);

/// A kernel has failed (assert, trap, illegal access): later synchronising calls answer this. The first one
/// stays.
void raiseDeviceError(Error error);
/// The next synchronising call answers this, once: a GPU would be lost, but the program may go on here.
void raisePassingError(Error error);
/// The error that a synchronising call finds; from then on it is sticky.
Error deviceErrorAtSynchronisation();
/// The sticky error, or Success.
Error stickyError();
void clearDeviceError();

/// Makes `error` the thread's last error unless it is Success; returns it. `caller`: who has called the API.
Error remember(Error error, void* caller = nullptr);

/// Launches through `<<<>>>` return nothing to the program: their errors are only seen by asking for the last
/// error. An error set here and never asked for is reported when the program ends.
Error rememberLaunchError(Error error, const char* kernel, void* caller);
void reportUnreadErrors();

/// Part of the API function itself, whose caller is the program.
template <class Body> [[gnu::always_inline]] inline Error call(Body&& body) {
  const InRuntime here;
  if (Error sticky = stickyError(); sticky != Error::Success) return remember(sticky);
  return remember(body(), __builtin_return_address(0));
}

/// As call(), for what a lost device still answers.
template <class Body> [[gnu::always_inline]] inline Error callAnyway(Body&& body) {
  const InRuntime here;
  return remember(body(), __builtin_return_address(0));
}

} // namespace kcheck::runtime::api
