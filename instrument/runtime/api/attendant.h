// A thread of the runtime's own that goes on with launches that have been set aside while the host is
// elsewhere: it may be waiting, in a loop of its own, for what a kernel gives it.
#pragma once

namespace kcheck::runtime::api {

/// Something has been set aside.
void callAttendant();

} // namespace kcheck::runtime::api
