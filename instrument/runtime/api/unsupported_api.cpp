// The rest of the runtime API: functions that answer that they are not supported. They take no notice of
// their arguments, which the calling convention allows.
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/reports.h"

using namespace kcheck::runtime::api;

#define KC_REFUSED(name)                                                                                     \
  extern "C" Error name() { return remember(Error::NotSupported); }
#define KC_MISSING(name)                                                                                     \
  extern "C" Error name() {                                                                                  \
    reportUnsupported(#name, __builtin_return_address(0));                                                   \
    return remember(Error::NotSupported);                                                                    \
  }
#include "instrument/runtime/api/unsupported.def"
