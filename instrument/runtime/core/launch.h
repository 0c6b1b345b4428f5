// Launching kernels and ordering streams: what the CUDA API layer (api/) asks of the engine.
#pragma once

#include "instrument/abi.h"
#include "report/location.h"

#include <cstddef>
#include <cstdint>

namespace kcheck::runtime {

using abi::KernelEntry; ///< what the pass wrote about a kernel

struct LaunchConfig {
  Dim3 grid, block;
  std::size_t dynamicShared = 0;
  std::uint64_t stream = 0;
  bool cooperative = false;
  bool mayWait = false;   ///< it may be set aside; else it runs to its end, or hangs
  void* caller = nullptr; ///< host return address of the launch
};

/// The kernel whose device name is `name`, or null.
const KernelEntry* findKernel(const char* name);

/// Runs the kernel in stream order, to its end or until its threads only poll: then it is set aside
/// (company.h). `arguments` as cudaLaunchKernel takes them. Validation of the shape is the caller's (api/),
/// so that it can answer with CUDA's error codes.
void launch(const KernelEntry& kernel, const LaunchConfig& config, void** arguments);
/// Whether an access of a launch that has ended since the last question was misaligned. A GPU ends the kernel
/// there; here it goes on, so that what else is wrong is found as well.
bool someLaunchWasAskew();

/// Launches that have been set aside.
bool anySetAside();
/// Whether work of the stream has to wait for one of them.
bool isSetAside(std::uint64_t stream);
/// Of just that stream, which may be a branch of a graph.
bool isSetAsideIn(std::uint64_t stream);
/// Whether work of the second stream waits for what the first one has.
bool streamsWait(std::uint64_t first, std::uint64_t second);
/// What their goes have come to.
enum class GoOn : std::uint8_t { Moved, Polls, Exhausted };
/// Each of them goes on for a while. Exhausted: nothing more will come as long as nothing else happens.
GoOn goOnWithLaunches();
/// Changes when some launch that was set aside has got somewhere, as far as is seen.
std::uint64_t launchesMoved();
/// The host has been beside them, and may have seen all that they have published.
void hostKnowsAll();
/// The host has done something, or may have: they are not exhausted any more.
void heartenLaunches();
/// The host goes on.
void leaveLaunches();
/// Nothing will ever come of the launches that work of the stream waits for: they hang. All others end.
inline constexpr std::uint64_t kEveryStream = ~std::uint64_t{0};
void giveUpLaunches(std::uint64_t stream);
/// They end without a word.
void dropLaunches();
/// Whether some other thread of the program may yet do something.
bool programHasOtherThreads();

/// A launch ended by a trap, a failed assertion, a hang or a crash: the device answers with an error from now
/// on. What happened has been reported.
bool deviceFaulted();
enum class DeviceFault : std::uint8_t { None, IllegalAddress, Assert, Trap, Timeout };
DeviceFault deviceFault();
void clearDeviceFault(); ///< the program has reset the device
/// For who reads the clock: the nanoseconds that it is ahead. Loops that wait for the time to pass are no
/// hang: when nothing else happens, time goes faster, until that does not help either.
std::uint64_t lookAtClock();

/// What runs now is a repetition (rehearsal.h) whose effects outside of memory nobody may see. It ends where
/// they cannot be taken back.
bool isRehearsal();
void leaveRehearsal(abi::ThreadContext* thread);

/// Happens-before edges of the host side.
void streamSynchronized(std::uint64_t stream); ///< the host has waited for all work of the stream
void deviceSynchronized();
/// Streams that nobody announces are blocking: they and the legacy default stream (0) wait for each other.
void streamCreated(std::uint64_t stream, bool blocking);
/// The stream stands for a branch of a graph.
void streamIsBranch(std::uint64_t stream, std::uint64_t whole);
void eventRecorded(std::uint64_t event, std::uint64_t stream);
void streamWaits(std::uint64_t stream, std::uint64_t event);
void eventSynchronized(std::uint64_t event); ///< the host has waited for the event
/// Whether the thread of the host has waited for all of the stream's work, and for the event.
bool isWaitedFor(std::uint64_t stream);
bool isEventWaitedFor(std::uint64_t event);

/// A launch, copy or fill, by its number among those of its stream.
struct OperationNumber {
  std::uint64_t stream = 0, sequence = 0;
};
OperationNumber latestOperation(); ///< within a kernel: its launch
bool hostHasWaitedFor(OperationNumber operation);

/// The address and size of a `__device__`, `__constant__` or managed variable of the device module; null if
/// none.
void* findSymbol(const char* name, std::size_t* bytes);

} // namespace kcheck::runtime
