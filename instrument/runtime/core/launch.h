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
  void* caller = nullptr; ///< host return address of the launch
};

/// The kernel whose device name is `name`, or null.
const KernelEntry* findKernel(const char* name);

/// Runs the kernel to completion in stream order; `arguments` as cudaLaunchKernel takes them. Validation of
/// the shape is the caller's (api/), so that it can answer with CUDA's error codes.
void launch(const KernelEntry& kernel, const LaunchConfig& config, void** arguments);
/// Whether an access of the last launch was misaligned. A GPU ends the kernel there; here it goes on, so that
/// what else is wrong is found as well.
bool lastLaunchWasAskew();

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
void streamIsBranch(std::uint64_t stream);
void eventRecorded(std::uint64_t event, std::uint64_t stream);
void streamWaits(std::uint64_t stream, std::uint64_t event);
void eventSynchronized(std::uint64_t event); ///< the host has waited for the event

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
