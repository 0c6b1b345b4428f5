// How the runtime in the checked program tells kcheck what it saw: an append-only log of records in a file
// that both processes map, so that a crash, an abort or a kill of the program loses nothing that was written.
// Owned by runtime/core (writer) and pass/collect.cpp (reader). A record is complete when its kind is set,
// which happens last; counts and metrics are updated in place.
#pragma once

#include <atomic>
#include <cstdint>

namespace kcheck::wire {

inline constexpr const char* kDescriptorVariable =
    "KCHECK_REPORT_FD"; ///< environment: number of the inherited file
inline constexpr const char* kOptionsVariable = "KCHECK_OPTIONS"; ///< environment: see runtime/core/options.h

inline constexpr std::uint32_t kMagic = 0x4b434b4c, kVersion = 5;
inline constexpr std::uint64_t kCapacity = 64u << 20; ///< the file's size; sparse until written
inline constexpr std::uint32_t kNoSite = ~std::uint32_t{0};
/// Set in a `caller` that stands in device code: the other bits are its site's number.
inline constexpr std::uint64_t kDevicePlace = std::uint64_t{1} << 63;

/// Place of a String record in the log; 0 means none.
using TextRef = std::uint32_t;

struct Header {
  std::uint32_t magic, version;
  std::atomic<std::uint64_t> used;      ///< bytes, this header included
  std::atomic<std::uint32_t> truncated; ///< set when a record found no room
  std::atomic<std::uint32_t> ended;     ///< the program came to its normal end
  std::atomic<std::uint64_t> kernelsLaunched;
  // How far the run is, for whoever waits for it.
  std::atomic<std::uint64_t> blocks, blocksDone; ///< of the launch that runs
  std::atomic<TextRef> runningKernel;            ///< its kernel; 0: none runs
  std::atomic<std::uint32_t> findings;           ///< so far
  std::atomic<std::uint32_t> rehearses;          ///< the launch runs again in another order
  std::atomic<std::uint32_t> runningSite;        ///< of an access now and then; kNoSite: none yet
  std::atomic<std::uint32_t> shared;             ///< launches that several threads have run together
};

enum class RecordKind : std::uint32_t {
  Unfinished,
  String,
  Image,
  Site,
  Finding,
  Metric,
  Launch,
  Arguments,
  CutShort
};

/// Opens every record; records are multiples of 8 bytes.
struct Record {
  std::uint32_t kind;  ///< RecordKind; stored atomically, last
  std::uint32_t bytes; ///< this head included
};

enum class Rule : std::uint16_t {
  RaceShared,
  RaceGlobal,
  RaceWarp,
  RaceScope,
  RaceHost,
  BarrierDivergence,
  WarpMask,
  Hang, ///< numbers: whether memory changes; for `arrivals`, how many a phase takes and misses
  OutOfBounds,
  Misaligned,
  UseAfterFree,
  BadFree,
  WrongSpace,
  Leak,
  InvalidLaunch,
  UncheckedError,
  UninitializedRead,
  UnwrittenOutput,
  RedundantTransfer, ///< numbers: bytes, the host code that copied them from the device
  AssertFailed,      ///< a failing assert() in a kernel; numbers[1]: a __builtin_assume()
  Trap,
  Unsupported, ///< the program uses what kcheck does not implement
};

/// Where code of the program was loaded; turns a return address into a place in the file `path`.
struct Image {
  Record head;
  TextRef path;
  std::uint32_t unused;
  std::uint64_t base, end; ///< addresses; the place in the file is address - base
};

/// A row of the module's site table, written when a finding or metric first names it.
struct Site {
  Record head;
  std::uint32_t site;
  std::uint8_t kind, space; ///< abi::SiteKind, MemorySpace
  std::uint16_t flags;
  std::uint32_t bytes;
  TextRef file;
  std::uint32_t line, column;
};

enum class Doing : std::uint8_t { Read, Write, Atomic, Wait, Returned, Host, None };
enum AccessFlag : std::uint8_t {
  HasBlock = 1,
  HasThread = 2,
  HasBefore = 4,
  HasAfter = 8,
  Many = 16,
  LoadsOnly = 32
};

/// One side of a finding. For Wait: `count` threads stand at `site`.
struct Access {
  std::uint32_t site;
  Doing doing;
  std::uint8_t flags;
  std::uint8_t valueBytes, scope; ///< scope of an atomic: 1 block, 2 device, 3 system
  std::uint32_t block[3], thread[3];
  std::uint32_t count, unused;
  std::uint64_t before, after; ///< memory content, low bytes first
  std::uint64_t caller;        ///< return address of host code
  TextRef library;             ///< of Host: the library's function that does it; 0: a copy or fill
  std::uint32_t unusedToo;
};

/// How near two threads are; the order of kcheck::RaceScope.
enum class Nearness : std::uint8_t { None, Warp, Block, Grid, Host };

enum MemoryFlag : std::uint8_t {
  HasSize = 1,
  HasOffset = 2,
  Freed = 4,
  IsNull = 8,
  NoAllocation = 16,
  HostCopy = 32 ///< the host's variable that stands for the device variable `name`
};

struct Memory {
  std::uint8_t space, flags; ///< MemorySpace
  std::uint16_t kind;        ///< runtime::MemoryKind
  std::uint32_t bytes;       ///< accessed
  TextRef name;
  std::uint32_t unused;
  std::uint64_t size, allocatedBy, freedBy, address;
  std::int64_t offset;
};

enum FindingFlag : std::uint8_t {
  SameValue = 1,
  SawDifferentValue = 2,
  NarrowFence = 4, ///< beside NoWait: the kernel and the host talk while it runs
  Withdrawn = 8,
  NoWait = 16,
  OfCall = NoWait, ///< an unchecked error of a call, which is none where the program looks at the result
  AsyncCopy = 32,  ///< the second access is an asynchronous copy that nobody has waited for
  Rehearsed = 64,  ///< seen when the launch ran again in the opposite order, and not the first time
  Branches = 128   ///< of one graph: both operations are in branches of it that nothing joins
};

/// Whether the later thread has waited for a store of the earlier one's, as those do who take a lock or poll
/// a flag.
enum class HandOver : std::uint8_t {
  None,
  Bare,  ///< it has, and no fence of the earlier one's came before that store
  Fenced ///< it has, and behind such a fence: its own is missing, or stands elsewhere
};

/// What hangs on a read of memory that nobody has written.
enum class UnwrittenRead : std::uint64_t {
  Counts,
  ComesFirst,   ///< another thread's store, which nothing orders before the read, has come first in the run
  MayBeDropped, ///< on some ways through the kernel nothing depends on the value
  CopiedInPart, ///< some words of a structure or vector, which is only copied
  Padding       ///< some bytes of words, which are only copied: not told
};

struct Finding {
  Record head;
  Rule rule;
  Nearness nearness;
  std::uint8_t flags;
  std::uint8_t accessCount;
  std::uint8_t bareFlag; ///< 1: only a flag that a loop polls, which is worth telling beside other races of
                         ///< the kernel alone
  HandOver handOver;     ///< of races
  std::uint8_t readOnlyCache; ///< 1: the read may miss the write, whatever orders them
  std::uint64_t count;        ///< counted atomically
  TextRef kernel;             ///< display name
  TextRef text;               ///< a sentence, where the rule alone does not say it
  TextRef hint, detail;
  std::uint64_t caller; ///< host code that asked for it (launch, copy, free)
  /// Of OutOfBounds: the second is the host code that allocated what it landed in. Of UninitializedRead: the
  /// first is an UnwrittenRead, the second the store that has come first.
  std::uint64_t numbers[2];
  Access access[2];
  Memory memory;
};

/// Sums for one site in one kernel, updated in place after each launch.
struct Metric {
  Record head;
  TextRef kernel;
  std::uint32_t site;
  std::uint8_t access, space; ///< Doing, MemorySpace
  std::uint16_t unused;
  std::uint32_t bankWays;
  std::uint64_t requests, sectors, idealSectors, bytesRequested, lanes;
  std::uint64_t slots; ///< lanes that the requests had room for: the warps' threads
  /// Of atomics, all requests together: turns that the address met by most lanes of a request takes.
  std::uint64_t turns;
};

/// A kernel and shape that was launched, with how often.
struct Launch {
  Record head;
  TextRef kernel, symbol;
  std::uint32_t grid[3], block[3];
  std::uint64_t sharedBytes, count, caller;
};

/// A launch of the kernel ran again in other orders, and not all of them to their end.
struct CutShort {
  Record head;
  TextRef kernel;
  std::uint32_t unused;
};

/// A pointer among the arguments of a launch, and what it pointed into.
struct PassedPointer {
  std::uint32_t at, unused;         ///< offset in the arguments' bytes
  std::uint64_t allocation;         ///< number of the allocation among those of this record
  std::uint64_t bytes, allocatedBy; ///< of that allocation
  std::int64_t offset;
};

enum ArgumentFlag : std::uint32_t {
  MoreLaunches = 1, ///< the kernel was launched in further ways, which are not in the log
  HidesPointer =
      2, ///< a pointer leads to a variable of the program, which device code reaches by name as well
};

/// Where a parameter lies in the arguments' bytes.
struct PassedParameter {
  std::uint32_t at, bytes;
};

/// One way in which a kernel was launched: shape and arguments. Behind it stand so many pointers, parameters
/// and bytes.
struct Arguments {
  Record head;
  TextRef symbol;
  std::uint32_t flags, pointers, parameters, bytes, unused;
  std::uint32_t grid[3], block[3];
  std::uint64_t sharedBytes, caller;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

} // namespace kcheck::wire
