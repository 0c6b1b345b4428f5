// Memory traffic of a kernel under one known launch: every warp's requests are computed from the model, as
// the run would see them. Exact where addresses and conditions follow from indices, parameters and counters;
// large launches are sampled, axis by axis, with the borders taken as they are.
#pragma once

#include "analyzer/kernel_model.h"

#include <set>

namespace kcheck::analyzer {

/// One access of the model.
struct AccessTraffic {
  const ModelAccess* access = nullptr;
  Metric metric;                            ///< sums over the launch
  bool isWhole = true;                      ///< no block, warp or iteration was left out
  bool isLooped = false;                    ///< some loop's counter matters
  bool everyThread = true;                  ///< all threads of the launch do it
  std::uint64_t lanes = 0;                  ///< thread-level accesses
  std::int64_t lowest = 0, beyond = 0;      ///< bytes of the object touched, [lowest, beyond)
  std::uint64_t blocks = 0, idleBlocks = 0; ///< with and without a thread that does it
  /// Axes (bit 0: x) along which one block more would do it too, inside the array, before a guard ends it.
  unsigned furtherAxes = 0;
  bool mixesRounds = false;         ///< requests take together what lanes do in different rounds of a loop
  std::vector<std::uint32_t> masks; ///< of each warp, the lanes that ever do it
  bool lanesDiffer = false;         ///< some rounds of a warp are of other lanes than the rest
  /// Between consecutive threads of a warp, where it is the same everywhere.
  std::optional<std::int64_t> stride;
};

struct LaunchTraffic {
  std::vector<AccessTraffic> accesses;
  std::map<SiteId, std::string> open; ///< sites with an access that is not exact, and why
};

/// Of a model whose launch extents are all constant; nothing for any other. `lanesMayPart`: the kernel has
/// operations of warps at which lanes may wait for some others alone, so that what follows may be several
/// requests instead of one; figures are then not exact.
std::optional<LaunchTraffic> trafficOf(const KernelModel& model, bool lanesMayPart);

} // namespace kcheck::analyzer
