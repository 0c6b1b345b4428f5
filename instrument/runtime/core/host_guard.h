// Sees the host's own accesses to memory of the device: device memory, and managed or pinned memory that a
// kernel or copy may still be using. Such pages are taken from the host while only it runs; a fault tells of
// the first access, is reported, and the access then goes on as if nothing had been.
#pragma once

#include <csignal>

namespace kcheck::runtime {

/// While one lives, kernels and the runtime may touch everything.
class DeviceAccess {
public:
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

/// Something was launched or waited for: takes away or gives back pages accordingly.
void hideFromHost();
/// Gives all pages back until the next such call.
void showToHost();
/// A launch that goes on beside the host, in the attendant's turn, is about to give it something: the host
/// may use what it is given at once. Its pages are taken away before, but for those that the launch touches
/// again.
void hideBesideLaunch();
/// A memory fault while launches may touch everything: true where the above is all there is to it.
bool isFaultBesideLaunch(int signal, siginfo_t* info, void* state);

} // namespace kcheck::runtime
