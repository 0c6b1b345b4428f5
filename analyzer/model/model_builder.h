// From prepared kernel to KernelModel, from outside: one call per kernel and launch case.
#pragma once

#include "analyzer/model/prepare/prepare.h"

#include <array>

namespace kcheck::analyzer {

/// What is fixed of a launch. Absent extents are free.
struct LaunchCase {
  std::array<std::optional<std::uint32_t>, 3> block, grid;
  std::optional<std::uint32_t> mostThreads; ///< of a block along x, where that is free
  std::optional<std::uint64_t> sharedBytes;
  const Launch* launch = nullptr; ///< whose arguments bind the parameters; may be null
  bool mayAlias = false;          ///< pointer parameters may overlap
  bool keepsWhole = false;        ///< members of structures are not told apart

  /// Whether the program itself launches the kernel so: what it does not show of arguments and memory is
  /// fixed all the same.
  bool isOfProgram() const { return launch && launch->origin == LaunchOrigin::LaunchSite; }
  bool fixedBlock() const { return block[0] && block[1] && block[2]; }
  bool fixedGrid() const { return grid[0] && grid[1] && grid[2]; }
};

/// The axes whose indices or dimensions the kernel mentions: bit a of `block` and `grid`, and the first one
/// in any case; of a grid only where the kernel lets blocks work together. Those that only a library mentions
/// count where the kernel's own code mentions none.
struct UsedAxes {
  unsigned block = 1, grid = 1;
  unsigned ownBlock = 7, ownGrid = 7; ///< what its own code mentions
  /// What it compares blockDim and gridDim with (`if (blockDim.x != 256) return;`); 0: nothing.
  std::uint32_t wantedBlock[3] = {}, wantedGrid[3] = {};
  std::uint32_t mostThreads = 0; ///< of a block, by `__launch_bounds__`; 0: not said
};
UsedAxes usedAxes(const llvm::Function& kernel);

KernelModel buildModel(ExprContext& exprs, const PreparedModule& prepared, const KernelCode& code,
                       const Facts& facts, const LaunchCase& launch);

} // namespace kcheck::analyzer
