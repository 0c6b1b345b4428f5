// The device as programs ask for it: there is one, number 0, with fixed properties (device.h).
#include "instrument/runtime/api/device.h"

#include "instrument/runtime/api/device_state.h"
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/graph.h"
#include "instrument/runtime/api/later.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/api/services.h"
#include "instrument/runtime/api/stream.h"
#include "instrument/runtime/core/launch.h"

#include <cstdio>
#include <cstring>

namespace kcheck::runtime::api {

DeviceState& deviceState() {
  static DeviceState* state = new DeviceState; // outlives every exit handler
  return *state;
}

namespace {

bool isDevice(int device) { return device == 0; }

Error synchroniseDevice() {
  if (Error error = deviceWaitAllowed(); error != Error::Success) return error;
  waitForAll();
  deviceSynchronized();
  flushPrintf();
  return deviceErrorAtSynchronisation();
}

} // namespace
} // namespace kcheck::runtime::api

using namespace kcheck::runtime;
using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;

extern "C" {

Error cudaGetDeviceCount(int* count) {
  return callAnyway([&] {
    if (!count) return Error::InvalidValue;
    *count = 1;
    return Error::Success;
  });
}

Error cudaSetDevice(int device) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    constexpr int kMostOfAMachine = 16; // who asks for more wants to see it fail
    if (device > 0 && device < kMostOfAMachine) reportNoDevice(device, caller);
    return isDevice(device) ? Error::Success : Error::InvalidDevice;
  });
}

Error cudaGetDevice(int* device) {
  return callAnyway([&] {
    if (!device) return Error::InvalidValue;
    *device = 0;
    return Error::Success;
  });
}

Error cudaInitDevice(int device, unsigned /*deviceFlags*/, unsigned /*flags*/) {
  return call([&] { return isDevice(device) ? Error::Success : Error::InvalidDevice; });
}

Error cudaSetValidDevices(int* devices, int count) {
  return call([&] {
    if (!devices && count) return Error::InvalidValue;
    for (int i = 0; i < count; ++i)
      if (!isDevice(devices[i])) return Error::InvalidDevice;
    return Error::Success;
  });
}

Error cudaChooseDevice(int* device, const cuda::DeviceProperties* wanted) {
  return call([&] {
    if (!device || !wanted) return Error::InvalidValue;
    *device = 0;
    return Error::Success;
  });
}

Error cudaSetDeviceFlags(unsigned flags) {
  return call([&] {
    deviceState().flags = flags;
    return Error::Success;
  });
}

Error cudaGetDeviceFlags(unsigned* flags) {
  return call([&] {
    if (!flags) return Error::InvalidValue;
    *flags = deviceState().flags;
    return Error::Success;
  });
}

Error cudaGetDeviceProperties(cuda::DeviceProperties* properties, int device) {
  return callAnyway([&] {
    if (!properties) return Error::InvalidValue;
    if (!isDevice(device)) return Error::InvalidDevice;
    fillProperties(*properties);
    return Error::Success;
  });
}

Error cudaDeviceGetAttribute(int* value, cuda::Attribute attribute, int device) {
  return call([&] {
    if (!value) return Error::InvalidValue;
    if (!isDevice(device)) return Error::InvalidDevice;
    std::optional<int> known = deviceAttribute(attribute);
    if (!known) return Error::InvalidValue;
    *value = *known;
    return Error::Success;
  });
}

Error cudaDeviceSynchronize() {
  return call([] { return synchroniseDevice(); });
}

Error cudaDeviceReset() {
  const InRuntime here;
  dropAll();
  deviceSynchronized();
  flushPrintf();
  clearDeviceError();
  clearDeviceFault();
  deviceState().resetLimits();
  return Error::Success;
}

Error cudaDeviceSetLimit(cuda::Limit which, std::size_t value) {
  return call([&] {
    if (int(which) < 0 || int(which) >= cuda::kLimits) return Error::UnsupportedLimit;
    deviceState().limits[int(which)] = value;
    return Error::Success;
  });
}

Error cudaDeviceGetLimit(std::size_t* value, cuda::Limit which) {
  return call([&] {
    if (!value) return Error::InvalidValue;
    if (int(which) < 0 || int(which) >= cuda::kLimits) return Error::UnsupportedLimit;
    *value = deviceState().limits[int(which)];
    return Error::Success;
  });
}

Error cudaDeviceSetCacheConfig(int config) {
  return call([&] {
    if (config < 0 || config > 3) return Error::InvalidValue;
    deviceState().cacheConfig = config;
    return Error::Success;
  });
}

Error cudaDeviceGetCacheConfig(int* config) {
  return call([&] {
    if (!config) return Error::InvalidValue;
    *config = deviceState().cacheConfig;
    return Error::Success;
  });
}

Error cudaCtxResetPersistingL2Cache() {
  return call([] { return Error::Success; });
}

Error cudaDriverGetVersion(int* version) {
  return call([&] {
    if (!version) return Error::InvalidValue;
    *version = kRuntimeVersion;
    return Error::Success;
  });
}

Error cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

inline constexpr const char* kBusId = "0000:01:00.0";

Error cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call([&] {
    if (!text || length <= int(std::strlen(kBusId))) return Error::InvalidValue;
    if (!isDevice(device)) return Error::InvalidDevice;
    std::snprintf(text, std::size_t(length), "%s", kBusId);
    return Error::Success;
  });
}

Error cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return call([&] {
    if (!device || !text) return Error::InvalidValue;
    if (std::strcmp(text, kBusId) != 0) return Error::InvalidDevice;
    *device = 0;
    return Error::Success;
  });
}

Error cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* elements, const cuda::ChannelDesc* format,
                                           int device) {
  return call([&] {
    if (!elements || !format) return Error::InvalidValue;
    if (!isDevice(device)) return Error::InvalidDevice;
    *elements = std::size_t(limit(cuda::Attribute::MaxTexture1DLinearWidth));
    return Error::Success;
  });
}

// One device has no peers.

Error cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&] {
    if (!can) return Error::InvalidValue;
    if (!isDevice(device) || !isDevice(peer)) return Error::InvalidDevice;
    *can = 0;
    return Error::Success;
  });
}

Error cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call([&] {
    if (flags) return Error::InvalidValue;
    return isDevice(peer) ? Error::PeerAccessUnsupported : Error::InvalidDevice;
  });
}

Error cudaDeviceDisablePeerAccess(int peer) {
  return call([&] { return isDevice(peer) ? Error::PeerAccessNotEnabled : Error::InvalidDevice; });
}

Error cudaDeviceGetP2PAttribute(int* value, int /*attribute*/, int from, int to) {
  return call([&] {
    if (!value) return Error::InvalidValue;
    return isDevice(from) && isDevice(to) && from != to ? Error::Success : Error::InvalidDevice;
  });
}

Error cudaDeviceFlushGPUDirectRDMAWrites(int /*target*/, int /*scope*/) {
  return call([] { return Error::NotSupported; });
}

Error cudaProfilerStart() {
  return call([] { return Error::Success; });
}

Error cudaProfilerStop() {
  return call([] { return Error::Success; });
}

} // extern "C"
