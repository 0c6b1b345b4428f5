// What a program has set on the device: limits, flags, cache preference.
#pragma once

#include "instrument/runtime/api/cuda_abi.h"

#include <array>
#include <atomic>

namespace kcheck::runtime::api {

struct DeviceState {
  std::atomic<unsigned> flags = 8; ///< host memory can be mapped
  std::atomic<int> cacheConfig = 0;
  std::array<std::atomic<std::size_t>, cuda::kLimits> limits;

  DeviceState() { resetLimits(); }
  void resetLimits() {
    constexpr std::size_t defaults[cuda::kLimits] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
    for (int i = 0; i < cuda::kLimits; ++i) limits[std::size_t(i)] = defaults[i];
  }
  std::size_t limit(cuda::Limit which) const { return limits[std::size_t(which)]; }
};
DeviceState& deviceState();

} // namespace kcheck::runtime::api
