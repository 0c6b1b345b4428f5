// Which instructions are barriers, and how far they reach. Everything else in the model asks here.
#pragma once

#include <cstdint>
#include <optional>

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class Value;
} // namespace llvm

namespace kcheck::analyzer {

/// `Lanes`: `__syncwarp` of a mask that is not constant and full; it orders the lanes that it names.
/// `Named`: `bar.sync` of a numbered barrier, for as many threads as it says; where barrierGroups follows who
/// comes, it orders those. `Partial`: another barrier that only some threads of the block take part in. It
/// orders too little to cut a phase; leaving it out is sound for proofs and makes a race found across it
/// merely possible.
enum class BarrierKind : std::uint8_t { None, Warp, Lanes, Block, Grid, Named, Partial };

struct Barrier {
  BarrierKind kind = BarrierKind::None;
  const llvm::Value* mask = nullptr; ///< of Lanes
  const llvm::Value* name = nullptr; ///< of Named, where it is no literal
  std::int64_t number = 0;           ///< of Named, where it is one
  std::int64_t threads = 0;          ///< of Named; 0: all
};

/// Metadata, of barriers of the grid that a kernel makes itself (made_barriers/): the barrier of the block
/// behind which all blocks have come, and what is done to make it.
inline constexpr const char *kMadeBarrier = "kcheck.grid", *kPartOfBarrier = "kcheck.grid.part";

Barrier barrierOf(const llvm::Instruction& instruction);
/// Of the whole block, or the grid.
bool isBlockBarrier(const llvm::Instruction& instruction);
bool beginsWithBarrier(const llvm::BasicBlock& block);

/// The lanes that must come together to a shuffle, vote, match or matrix operation: these order no memory.
struct Together {
  const llvm::Value* mask = nullptr; ///< null: all
  bool readsLanes = true;            ///< a lane is given what another lane of its warp has
  bool needsAll = false;             ///< matrices lie in all lanes of a warp: one that has returned is missed
  bool isFollowed = true;            ///< false: inline PTX works out itself who comes, or who is named
};
std::optional<Together> lanesTogether(const llvm::Instruction& instruction);

/// cooperative_groups' grid barrier: kept as a call, its body (atomics in a workspace) is not looked into.
bool isGridBarrierFunction(const llvm::Function& function);
/// The cause of what it asks for before.
inline constexpr char kWhetherCooperative[] = "whether the launch is cooperative";

/// Whether inline PTX (cuda::atomic and its relatives) acquires or releases: an order that the model does not
/// follow.
bool ordersByPtx(const llvm::Function& kernel);

/// How finely a run of the kernel is cut. `Together` as Warp, with rounds of loops that lanes come to
/// together.
enum class Cut : std::uint8_t { None, Grid, Block, Named, Warp, Together, Lanes };
/// Whether a barrier of this kind ends a phase under this cut.
bool cuts(Cut cut, BarrierKind kind);

} // namespace kcheck::analyzer
