// What an access of the host to memory of the device means; host_guard.h sees them.
#pragma once

#include "instrument/runtime/core/shadow.h"

namespace kcheck::runtime {

/// The instruction at `pc` touches that, with its stack there: a finding where the host must not, or not yet.
/// What the runtime's own libraries touch is left alone.
void checkHostAccess(Address address, Address pc, Address stack, bool writes);
/// Whether something there is not for every thread of the host to touch yet.
bool isInUse(Address begin, Address end);

} // namespace kcheck::runtime
