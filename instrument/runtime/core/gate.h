// Host threads come in by the API and by faults of pages that are hidden from them; a thread of the runtime's
// own (api/attendant.h) runs device code only while none of them is inside.
#pragma once

#include <atomic>

namespace kcheck::runtime {

/// While it lives, the attendant waits. Cheap: there mostly is none.
class InRuntime {
public:
  InRuntime();
  ~InRuntime();
  InRuntime(const InRuntime&) = delete;
  InRuntime& operator=(const InRuntime&) = delete;
};

/// Whether the calling thread is inside.
bool isInRuntime();
/// Whether the calling thread is the attendant.
bool isAttendant();
/// The attendant's side: false where some host thread is inside.
bool enterAsAttendant();
void leaveAsAttendant();
/// Of the runtime, in this process.
std::atomic<unsigned>& attendants();

} // namespace kcheck::runtime
