// The end of the program: what is reported only then, in this order.
#include "instrument/runtime/api/exit.h"

#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/later.h"
#include "instrument/runtime/api/services.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/gate.h"

#include <cstdlib>

namespace kcheck::runtime::api {
namespace {

void atEnd() {
  const InRuntime here;
  waitForAll();
  flushPrintf();
  reportUnseenPrints();
  reportUnreadErrors();
  reportLeaks();
  noteEnd();
}

} // namespace

void watchExit() {
  static const int registered = std::atexit(atEnd); // before main: runs after the program's own handlers
  static_cast<void>(registered);
}

} // namespace kcheck::runtime::api
