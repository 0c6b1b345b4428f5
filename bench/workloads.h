// What is measured: the launches of each kernel on fixed, generated data.
#pragma once

#include "instrument/abi.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kcheck::bench {

enum class Shape : std::uint8_t { Streaming, Tiled, Scattered };

struct Workload {
  std::string name;   ///< `tiled matrix product`
  std::string kernel; ///< in kernels.cu
  Shape shape;
  std::uint64_t accesses; ///< by all threads of one round
  /// Launches the kernel once (BFS: once per level).
  std::function<void(const abi::KernelEntry&)> round;
};

std::vector<Workload> workloads();

} // namespace kcheck::bench
