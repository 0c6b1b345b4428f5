// What instrumented device code and the runtime agree on: contexts, tables, and the one list of calls between
// them (abi_calls.def). The pass takes names and types from here, never from strings of its own. Plain C++
// without dependencies; included by both sides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kcheck::abi {

inline constexpr std::uint32_t kVersion = 8;

/// Where all memory lies that the runtime hands out. An address below the start or at the end is foreign.
inline constexpr std::uint64_t kArenaStart = 0x2000'0000'0000;
inline constexpr std::uint64_t kArenaExtent = (1ull << 36) + (1ull << 33) + (1ull << 34);
/// The windows of all blocks' shared memory in it: device code tells them by the address.
inline constexpr std::uint64_t kSharedStart = kArenaStart + (1ull << 36);
inline constexpr std::uint64_t kSharedExtent = 1ull << 33;

/// The log of accesses: rows of one 64-bit word per lane of the warp. ThreadContext::log has the bit
/// kLogBytes set when the rows are used up; kLargestSegment more rows may still be written then.
inline constexpr std::uint32_t kLogLanes = 32;
inline constexpr std::uint64_t kLogRowBytes = 8 * kLogLanes;
inline constexpr std::uint64_t kLogBytes = 1ull << 22;
inline constexpr std::uint32_t kLargestSegment = 1024;

/// Of the `bytes` of kcRead, kcWrite and kcAtomic: from this bit on as LoggedAccess::array.
inline constexpr unsigned kArrayShift = 32;

/// Why a simulated thread has given control back to the scheduler. Device code fills ThreadContext::wait,
/// suspends, and finds the answer in `wait.result` when it is resumed.
enum class WaitKind : std::uint32_t {
  None,
  BlockBarrier,  ///< a = barrier id, b = expected threads (0: whole block), c = BarrierOp, d = predicate
  BarrierArrive, ///< a = barrier id, b = expected threads; does not suspend, listed for uniformity
  WarpSync,      ///< a = mask
  Shuffle, ///< a = mask, b = ShuffleMode, c = lane or delta, d = clamp/width word of PTX; e = value (64 bit)
  Vote,    ///< a = mask, b = VoteMode, c = predicate
  Match,   ///< a = mask, b = 0 any / 1 all, e = value
  Reduce,  ///< a = mask, b = ReduceOp, e = value (redux.sync)
  ActiveMask, ///< result: lanes that wait here together
  GridSync,   ///< cooperative launch
  Yield,      ///< a polling loop or nanosleep: let others run; a = 0, kGetsOn, kGivesUp or kRoundsOfDraws
  Matrix,     ///< a = mask, b = MatrixOp, c and d as there, e = address of the lane's registers, also of the
              ///< result
};
/// Of a Yield: the loop may get on although no memory changes, along a list or an array.
inline constexpr std::uint32_t kGetsOn = 1;
/// Of a Yield: the loop waits for others, but counts its rounds and ends after some of them all the same.
inline constexpr std::uint32_t kGivesUp = 2;
/// Of a Yield: so many rounds have passed, and what atomics draw decides whether the loop ends: where that
/// leaves memory as it is, nothing changes from one round to the next.
inline constexpr std::uint32_t kRoundsOfDraws = 1024;
enum class BarrierOp : std::uint32_t { None, Count, And, Or };
enum class ShuffleMode : std::uint32_t { Index, Up, Down, Butterfly };
/// Of a shuffle's mode: the lane's variable has no value. Of its predicate: nor had that of the lane read
/// from.
inline constexpr std::uint32_t kOffersNothing = 0x100, kReceivedNothing = 2;
enum class VoteMode : std::uint32_t { All, Any, Uniform, Ballot };
enum class ReduceOp : std::uint32_t { Add, Min, Max, UMin, UMax, And, Or, Xor };

enum class MatrixOp : std::uint32_t {
  Multiply, ///< c = m | n << 8 | k << 16, d = matrixTypes(); registers of A, B and C, one after the other
  Rows,     ///< ldmatrix: c = matrices; registers are the address of the row that is named, and of the one to
            ///< read
  Spread    ///< of the rows read: c = matrices, d = 1 when transposed; registers are a row of eight halves
};
enum class MatrixType : std::uint32_t { F16, BF16, TF32, F32, F64, S8, U8, S32 };
inline constexpr unsigned matrixBytes(MatrixType type) {
  constexpr unsigned bytes[] = {2, 2, 4, 4, 8, 1, 1, 4};
  return bytes[static_cast<unsigned>(type)];
}
inline constexpr bool isIntegerMatrix(MatrixType type) {
  return type == MatrixType::S8 || type == MatrixType::U8 || type == MatrixType::S32;
}
inline constexpr std::uint32_t matrixTypes(MatrixType a, MatrixType b, MatrixType c, MatrixType d,
                                           bool saturates) {
  return static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b) << 4 |
         static_cast<std::uint32_t>(c) << 8 | static_cast<std::uint32_t>(d) << 12 |
         static_cast<std::uint32_t>(saturates) << 16;
}
inline constexpr unsigned kMatrixExtent = 32; ///< rows and columns at most
inline constexpr unsigned kMatrixWords = 32;  ///< of 32 bits that a lane brings at most

/// What kcBarrierObject does with an mbarrier, and what it gives back.
enum class BarrierObjectOp : std::uint32_t {
  Init,           ///< value: arrivals per phase; the word to store
  Arrive,         ///< value: arrivals; the word before, which Test takes
  ArriveDrop,     ///< the same, and fewer are expected from now on
  ArriveOnCopies, ///< when the thread's copies are done; value: arrivals, 0 when they are not counted
  Test,           ///< value: a word that Arrive gave; whether its phase is over
  TestParity      ///< value: 0 or 1; whether the phase of that parity is over
};
/// The name of the shared variable where cooperative groups keep the barriers and exchanges of tiles of
/// several warps.
inline constexpr const char* kReservedShared = "%reserved";

inline constexpr std::uint32_t kAllCopies = ~std::uint32_t{0}; ///< of kcAsyncWait: those not committed too

struct Wait {
  WaitKind kind;
  std::uint32_t site; ///< SiteId-like number of the waiting place (SiteInfo of kind Sync)
  std::uint32_t a, b, c, d;
  std::uint64_t e;
  std::uint64_t result;    ///< value, ballot or mask
  std::uint32_t predicate; ///< second result of shuffles and match.all in bit 0; kReceivedNothing
  std::uint32_t unused;
};

/// One per running block; device code reads the leading fields.
struct BlockContext {
  std::uint32_t blockIdx[3], blockDim[3], gridDim[3];
  std::uint32_t dynamicShared; ///< bytes
  std::uint32_t gridWorkspace; ///< of the driver, for grid barriers; 0 where the launch is not cooperative
  std::uint32_t staticShared;  ///< bytes, without redzones
  std::byte* shared;           ///< start of the block's shared window: static variables, then dynamic memory
  std::byte* dynamicSharedBase;
};

/// One per simulated thread; device code gets it as hidden first parameter. The runtime's own state follows
/// it.
struct ThreadContext {
  std::uint32_t threadIdx[3];
  std::uint32_t lane, warp, linear; ///< in the block
  BlockContext* block;
  void* coroutine; ///< handle while suspended; the frame's first word is the resume function, null when done
  Wait wait;
  std::uint64_t* log;  ///< the lane's next free word in the log of accesses (TraitLogged)
  std::uint32_t carry; ///< PTX's condition code: 0 or 1
  std::uint32_t turns; ///< not 0: the thread gives way in each round of loops that draw work (kcTurn)
};

enum SiteFlag : std::uint16_t {
  SiteVolatile = 1,
  SiteConstant = 2,
  /// A read through the read-only cache (ld.global.nc), which sees nothing that its own kernel writes.
  SiteLoadNonCoherent = 4,
  SitePolled = 8, ///< a volatile or atomic read in a loop that waits for its value (the loop also yields)
  SiteUnalignedBarrier = 16, ///< of a Sync site: barrier.sync, which threads may reach from different places
  /// The address comes from a ticket that an atomic gave: lanes of a GPU draw theirs together, simulated ones
  /// one after the other, so that what the access costs here says little.
  SiteDrawn = 32,
  SiteKeepsBits = 64, ///< reads for nothing, or to write a part of it, a bit-field: the rest may be unwritten
  /// A read of the toolkit's headers: past what they have put in shared memory, and on purpose.
  SiteOfLibrary = 128,
  SiteInParts = 256, ///< of a type, or a function, that asks for less alignment than its bytes together would
  SiteMayDrop = 512, ///< reads what nothing may depend on: it counts on some ways through the kernel only
  SiteCopies = 1024, ///< reads only to store it elsewhere: padding goes along
  SiteProbes =
      2048, ///< of a polled update: at another place in each round, so that it waits for none of them
};
enum class SiteKind : std::uint8_t { Read, Write, Atomic, Sync, Other };

/// Indexed by site number; sites beyond Facts::sites (barriers, collectives) are numbered by the pass.
struct SiteInfo {
  SiteKind kind;
  std::uint8_t space; ///< kcheck::MemorySpace where it is known statically, Generic otherwise
  std::uint16_t flags;
  std::uint32_t bytes;
  const char* file;
  std::uint32_t line, column;
  /// The site that this one is a copy of: header code (atomicAdd, say) inlined at the user's line. Its own
  /// number otherwise.
  std::uint32_t origin;
  /// Of a read, by its words of four bytes: those that something is done with; 0: all.
  std::uint32_t usedWords;
};

struct ParameterInfo {
  std::uint32_t offset, bytes; ///< in the argument buffer that entry functions take
};

/// A shared variable of a kernel (or of a function that it calls), placed by the pass with redzones between.
/// One whose name starts with `%` belongs to the system: the runtime zeroes it and treats it as initialised.
struct SharedVariable {
  const char* name;
  std::uint32_t offset, bytes, align;
};

/// One access of a segment.
struct LoggedAccess {
  SiteKind kind;
  std::uint8_t bytes; ///< 1, 2, 4, 8 or 16
  std::uint16_t row;  ///< of the segment, holds an address
  std::uint16_t
      content; ///< of writes and atomics: the row with what was in memory before (16 bytes: two rows)
  std::uint16_t distance; ///< 0, or 1 + which of KernelEntry::distances is added to the logged address
  std::int32_t offset;    ///< from there
  std::uint32_t site;
  std::uint16_t order; ///< of atomics: as of kcAtomic; of reads: 1 through the read-only cache
  std::uint16_t array; ///< 0, or 1 + which of KernelEntry::arrays it belongs in
};

/// Accesses that always happen one after the other: they share one advance of the log. Bits 48 to 63 of a
/// segment's first word are its number, all other words are addresses or content.
struct LogSegment {
  std::uint32_t first, count; ///< in ModuleEntry::accesses
  std::uint32_t rows;
  std::uint32_t loopEnd; ///< the last segment in the innermost loop around this one; itself outside of loops
};

/// What may order threads of a kernel other than whole-block barriers and the grid's end. Without TraitsKnown
/// the runtime expects all of them, which costs time where many threads read the same memory.
enum KernelTrait : std::uint32_t {
  TraitGridSync = 1,
  TraitsKnown = 2,
  TraitWarpSync = 4,      ///< __syncwarp
  TraitFences = 8,        ///< fences, atomics with an order, volatile accesses
  TraitNamedBarrier = 16, ///< barriers of part of the block, arrive
  TraitUnchecked = 32,    ///< the unchecked twin for benchmarks: no hooks at all
  /// Accesses are written to the log instead of calling the runtime one by one: only whole-block barriers,
  /// grid barriers and the kernel's end order threads, so that checks can wait until the warp does.
  TraitLogged = 64,
  /// Atomics, barrier objects, volatile accesses, by which one thread may learn from another, and not all of
  /// it a library's own business.
  TraitHandsOver = 256,
  /// No atomic gives a thread anything, and what they leave is the same in any order of the blocks.
  TraitOrderFree = 512,
  /// Of those with a log: atomics give threads something in loops (kcTurn).
  TraitDraws = 1024,
  TraitGives = 4096,         ///< atomics give threads something: what they do then hangs on who comes first
  TraitGivesUp = 8192,       ///< some loop waits for others so many rounds only (kGivesUp)
  TraitReadOnlyLoads = 2048, ///< some reads are SiteLoadNonCoherent
  TraitWritesKnown = 128,    ///< KernelEntry::written lists all pointers through which the kernel can write
};

struct KernelEntry {
  const char* name;        ///< symbol, as __cudaRegisterFunction names it
  const char* displayName; ///< `transpose(int *, int)`
  /// Starts a thread. Returns the coroutine handle when the thread suspended, null when it has finished.
  void* (*start)(ThreadContext* thread, const void* arguments);
  const ParameterInfo* parameters;
  std::uint32_t parameterCount, argumentBytes;
  const SharedVariable* shared;
  std::uint32_t sharedCount, staticSharedBytes; ///< with redzones
  std::uint32_t declaredSharedBytes;            ///< without
  std::uint32_t
      canSuspend; ///< 0: start always runs to the end; 1: coroutine; 2: calls kcBlock on a stack of its own
  std::uint32_t usesGridSync; ///< 0 or 1, plus KernelTrait bits
  std::uint32_t maxThreads;   ///< __launch_bounds__; 0: none
  const char* file;
  std::uint32_t line, writtenCount;
  const std::uint32_t* written; ///< where the arguments hold those pointers (TraitWritesKnown)
  /// Writes `distanceCount` numbers of bytes that lie between addresses for all threads of a launch; of the
  /// thread it looks at the launch's shape only.
  void (*distances)(const ThreadContext* thread, const void* arguments, std::int64_t* out);
  std::uint64_t distanceCount;
  const std::uint32_t* arrays; ///< where the arguments hold pointers that addresses are counted from
  std::uint64_t arrayCount;
};

/// A `__device__`, `__constant__` or `__managed__` variable. The runtime places it and stores the address in
/// *slot, through which device code reaches it; `initialise` then writes initial values.
struct GlobalEntry {
  const char* name;
  std::uint64_t bytes;
  std::uint32_t align;
  std::uint8_t space; ///< kcheck::MemorySpace Global or Constant
  std::uint8_t managed, zeroInitialised, unused;
  void** slot;
};

struct ModuleEntry {
  std::uint32_t version, checked; ///< checked = 0: the unchecked twin for benchmarks
  const KernelEntry* kernels;
  const GlobalEntry* globals;
  const SiteInfo* sites;
  std::uint32_t kernelCount, globalCount, siteCount, calleeCount;
  void (*initialise)();
  const LogSegment* segments;
  const LoggedAccess* accesses;
  std::uint32_t segmentCount, accessCount;
  const void* const* callees; ///< the device functions whose addresses are taken
};

/// The `operation` of kcTexture: geometry | TextureIntegerCoordinates | TextureResult << 5 | TextureMode << 7
/// | component << 9, all as the PTX instruction's name says (`tex.level.2d.v4.f32.f32`, `tld4.g.2d...`). Its
/// `words` are the operands in the instruction's order, one 32-bit word each, every coordinate vector cut to
/// what the geometry needs (1d: x; 2d: x y; 3d, cube: x y z; arrays: the layer first), then the level of
/// detail, or the two gradients.
enum class TextureGeometry : std::uint32_t { Line, Plane, Volume, LineArray, PlaneArray, Cube, CubeArray };
inline constexpr std::uint32_t TextureIntegerCoordinates = 1 << 4; ///< .s32, else .f32
enum class TextureResult : std::uint32_t { F32, S32, U32 };
enum class TextureMode : std::uint32_t { Base, Level, Gradient, Gather };

/// The `operation` of kcSurface (sust, suld): geometry | SurfaceStore | log2(element bytes) << 5 |
/// log2(elements) << 7 | SurfaceOutside << 9. Words are the coordinates as for textures, x in bytes; data are
/// the elements one after the other.
inline constexpr std::uint32_t SurfaceStore = 1 << 4;
enum class SurfaceOutside : std::uint32_t { Trap, Clamp, Zero };

} // namespace kcheck::abi
