// The running launch: its blocks, their threads, and what the fast paths of the hooks need at hand.
#pragma once

#include "instrument/abi.h"
#include "instrument/runtime/core/async.h"
#include "instrument/runtime/core/clock.h"
#include "instrument/runtime/core/early_reads.h"
#include "instrument/runtime/core/epochs.h"
#include "instrument/runtime/core/fibre.h"
#include "instrument/runtime/core/frames.h"
#include "instrument/runtime/core/launch.h"
#include "instrument/runtime/core/metric_log.h"
#include "instrument/runtime/core/options.h"
#include "instrument/runtime/core/published.h"
#include "instrument/runtime/core/quiet.h"
#include "instrument/runtime/core/shared_locals.h"
#include "instrument/runtime/core/streams.h"
#include "instrument/runtime/core/sync_word.h"

#include "instrument/wire.h"

#include <algorithm>
#include <csetjmp>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace kcheck::runtime {

inline constexpr std::uint32_t kWarpSize = 32;
inline constexpr std::uint32_t kBarriers = 16; ///< of a block, numbered

enum class ThreadStatus : std::uint8_t { NotStarted, Ready, Waiting, Yielded, Done };

/// What a thread has read from flags and atomics, and would have if all scopes were the widest.
struct Received {
  Clock device, wide;
  bool empty() const { return device.empty() && wide.empty(); }
  void join(const Received& other) {
    device.join(other.device);
    wide.join(other.wide);
  }
};

/// What fences have made ready for the next write of an atomic or volatile word to publish.
struct Fenced {
  Clock block, device, system; ///< by the scope of the write
  Clock wide;                  ///< as SyncState::wide
  void join(const Fenced& other);
};

/// What a thread knows beyond its block's barriers. Made when the thread first fences or synchronises.
struct SyncState {
  Clock known; ///< comes before what the thread does now
  Clock wide;  ///< the same had every fence and atomic the widest scope: tells narrow scopes apart
  /// Read from atomics, known after the next fence or barrier: releases of wide scope, and of this block.
  Received pending;
  Clock pendingBlock;
  /// The same of wide scope, read in a loop that waits for it: a fence must follow, for the other threads of
  /// the block too, where the block's barrier tells them of it.
  Received polled;
  Fenced fenced; ///< by its last fences
  bool hasFence = false;
  Token lanes[kWarpSize]{}; ///< known of the lanes of the own warp
  Address seenWord = 0;     ///< the last atomic's word (address / 4) and how many operations it had seen then
  std::uint32_t seenVersion = 0;
  void rememberWord();
  std::uint64_t lastFence = 0; ///< number of the thread's last fence or barrier in the launch
  /// Words that it has stored to since then, and which of their versions that was (SyncWord::versions).
  std::vector<std::pair<Address, std::uint32_t>> unfenced;
  /// Block and thread of the last ones whose stores it has waited for in a loop, and the last such store.
  struct Awaited {
    std::uint64_t block;
    std::uint32_t thread;
    Token store;
    bool mayBeOlder; ///< an older store may be what it has found
  };
  static constexpr std::size_t kMostAwaited = 8;
  std::vector<Awaited> awaited;
  void noteAwaited(const Awaited& store);
  /// Of that thread: null where it has waited for none.
  const Awaited* awaitedOf(std::uint64_t block, std::uint32_t thread) const;
};

struct BlockState;
struct LaunchState;
struct RowLog;
struct RowChecks;

/// One simulated thread; device code sees the leading part.
struct ThreadState : abi::ThreadContext {
  Token me = 0; ///< token of plain accesses
  ThreadStatus status = ThreadStatus::NotStarted;
  std::unique_ptr<SyncState> sync;
  std::unique_ptr<AsyncCopies> copies; ///< null when none was ever started
  Address polledBarrier = 0;           ///< barrier object whose phase was not over when last asked for
  std::unique_ptr<Fibre> fibre;
  std::uint32_t yields = 0;  ///< times that it gave way
  std::uint8_t asleep = 0;   ///< rounds that it stays away for the last one
  std::uint8_t haste = 0;    ///< accesses that it makes at once now (LaunchState::impatient)
  std::uint8_t pause = 0;    ///< rounds until its next access (Rehearsal::Uneven)
  std::uint32_t strays = 0;  ///< accesses that were told to leave their memory
  std::uint32_t strayAt = 0; ///< site of the last one
  std::uint32_t visits = 0;  ///< calls before accesses

  BlockState& owner() const;
  std::uint32_t warpBit() const { return 1u << lane; }
};

/// One resident block.
struct BlockState : abi::BlockContext {
  // Token windows, see access.h.
  Token floor = 0;      ///< below: before this launch (or grid barrier)
  Token ordered = 0;    ///< [ordered, interval): the block's own earlier intervals and nobody else's
  Token born = 0;       ///< the block's first token; older ones in its shared window are another block's
  Token interval = 0;   ///< start of the current barrier interval
  Token many = 0;       ///< 2 * threads
  Token launchMany = 0; ///< Cell::read: readers of several blocks; | 1 in Cell::write: several atomic writers
  bool exact = true;    ///< keep reader sets: something finer than block barriers can order threads

  LaunchState* launch = nullptr;
  std::uint64_t index = 0; ///< linear in the grid
  std::uint32_t threadCount = 0, live = 0, warps = 0;
  std::uint32_t slot = 0; ///< number of the shared window
  bool running = false;
  std::uint64_t launchNumber = 0;
  const KernelEntry* laidOutFor = nullptr; ///< whose shared variables the window's shadow shows
  std::size_t laidOutDynamic = 0;
  bool alone = true; ///< no other block has taken tokens since the block's current interval began
  // Whether a look at all threads may find what hardly any block has.
  bool anyYields = false; ///< threads that have given way
  bool anyCopies = false; ///< copies that go on beside the code
  bool anySync = false;   ///< what threads know of each other
  std::unique_ptr<ThreadState[]> threads;
  Clock known, knownWide;     ///< by all threads since the last barrier
  mutable TokenRanges before; ///< that come before all that its threads do now (comesBefore)
  Fenced fenced;              ///< by threads of the block before its last barrier
  Frames frames;
  SharedLocals sharedLocals;
  std::uint32_t arrived[kBarriers]{}; ///< by barrier: threads that arrived without waiting
  Clock arrivedKnown[kBarriers];

  ThreadState* begin() const { return threads.get(); }
  ThreadState* end() const { return threads.get() + threadCount; }
};

inline BlockState& ThreadState::owner() const { return *static_cast<BlockState*>(block); }

/// Readers of one cell, where "several" is not exact enough.
struct ReadSet {
  struct Reader {
    Token token;
    std::uint16_t site;
    bool atomic;
  };
  std::vector<Reader> readers;
  Token oldest = ~Token{0}, newest = 0; ///< of their tokens
  bool isFolded = false;                ///< some of them stand for several threads of a block
  std::size_t sweepAt = 0; ///< so many readers, and those that come before the next one are dropped
  std::size_t dropAt = 0;  ///< some more, and those that have stored since are dropped
  void add(const Reader& reader) {
    readers.push_back(reader);
    oldest = std::min(oldest, reader.token);
    newest = std::max(newest, reader.token);
  }
  void restamp(Token from, Token to) {
    for (Reader& reader : readers)
      if (reader.token == from) reader.token = to;
    oldest = std::min(oldest, to);
    newest = std::max(newest, to);
  }
  void clear() {
    readers.clear();
    oldest = ~Token{0};
    newest = 0;
    isFolded = false;
    sweepAt = dropAt = 0;
  }
};

/// Of one site: global (and the like) and shared, each with an address that it used.
struct SiteTraffic {
  Traffic sum[2];
  Address example[2]{};
  double owed = 0; ///< by requests that stand for others that were lost
};
using SiteTraffics = std::vector<SiteTraffic>;

/// A write of a reported race whose value is not in memory yet.
struct PendingValue {
  wire::Finding* finding;
  bool first, bothWrite;
  Address address;
  std::uint32_t bytes;         ///< of it that are shown
  std::uint32_t accessed;      ///< all of them
  std::uint64_t contentBefore; ///< a sum over these
  /// What the other thread had written before it wrote what was there, where a race with that has been found.
  struct Earlier {
    Address word;
    std::uint32_t value, mask;              ///< the bits of the value that are meant
    std::unique_ptr<wire::Finding> finding; ///< to be told where the write has stored another value
  };
  std::vector<Earlier> earlier{};
  /// The write's race with a reader, to be told where it has stored the value that was there.
  std::unique_ptr<wire::Finding> withReader{};
};

class Share;
class Grid; // scheduler.cpp

/// An array that accesses belong in; any place where that is not known.
struct OwnArray {
  Address base = 0, bytes = ~Address{0};
  /// Accesses of `width` at addresses of which `low` and `high` are the ends.
  bool holds(Address low, Address high, std::size_t width) const {
    return low - base < bytes && high + width - 1 - base < bytes;
  }
};

/// What is the same for all threads that run a launch's blocks.
struct LaunchFacts {
  const abi::ModuleEntry* module = nullptr; ///< all device code of the program; null without any
  const KernelEntry* kernel = nullptr;
  LaunchConfig config;
  const void* arguments = nullptr;
  Token first = 0;           ///< tokens from here on have owners: blocks of this launch, or of its company
  Token began = 0;           ///< its own tokens are later
  Token floor = 0, many = 0; ///< see BlockState::floor, launchMany
  std::uint64_t number = 0;
  std::uint64_t gridBlocks = 0;
  std::uint64_t firstBlock = 0; ///< index of its first block; of launches that live at once none is the same
  std::uint32_t blockThreads = 0;
  bool tracksSync = true;    ///< fences or ordered atomics may occur
  bool exact = true;         ///< see BlockState::exact
  bool fibres = false;       ///< every thread has a stack of its own
  bool logged = false;       ///< device code logs its accesses (rows.h)
  bool steps = false;        ///< and gives way at every access
  std::uint16_t careful = 0; ///< flags of sites whose accesses need more than a look at the shadow
  wire::TextRef name = 0;
  ScheduleKind schedule = ScheduleKind::Fair;
  QuietArrays quiet;
  std::vector<Address> distances; ///< by LoggedAccess::distance; the first is 0
  std::vector<OwnArray> arrays;   ///< by LoggedAccess::array; the first is any place
};

/// What orders the threads of a launch, and of all launches that keep company (company.h).
struct SharedOrder {
  std::vector<ReadSet> readSets; ///< Cell::read = kReadSet + firstReadSet + index
  /// Entries that all sets together may have beyond the usual number in one.
  static constexpr std::size_t kSpareReaders = std::size_t{1} << 20;
  std::size_t spareReaders = kSpareReaders;
  std::uint32_t firstReadSet = 0;
  std::unordered_map<Address, SyncWord> words;
  PublishedWords published;              ///< to the host
  std::vector<std::uint8_t> atomicScope; ///< by site; of the last atomic there
  std::uint64_t fences = 0;              ///< how many there were, barriers included
  bool anyFirst = false;                 ///< some word has a SyncWord::first
};

struct LaunchState : LaunchFacts, SharedOrder {
  Share* share = nullptr; ///< the part of the launch that this is, where several threads run it (crew.h)
  std::uint64_t started = 0;
  bool faulted = false; ///< nothing runs any more
  bool askew = false;   ///< some access was misaligned; the launch goes on all the same
  DeviceFault fault = DeviceFault::None;
  std::unordered_map<Address, BarrierObject> barrierObjects;
  std::vector<PendingValue> pendingValues;
  EarlyReads earlyReads;
  std::unique_ptr<AccessLog> accesses;            ///< of the warp that runs; null without metrics
  SiteTraffics traffic;                           ///< by site
  std::vector<std::unique_ptr<BlockState>> slots; ///< room for resident blocks; `live` threads tell who runs
  std::uint32_t firstSlot = 0;                    ///< number of a share's shared window
  RowLog* rows = nullptr;                         ///< made with the first launch that logs, and kept
  RowChecks* checks = nullptr;                    ///< the same
  ThreadState* current = nullptr;                 ///< in device code now
  std::jmp_buf escape;                            ///< of the scheduler's loop
  Address stackLow = 0,
          stackHigh = 0;  ///< of the host thread below the launch: locals of threads without fibres
  bool received = false;  ///< an atomic or flag has brought order from another thread
  bool rehearsal = false; ///< runs again (rehearsal.h): only new races are reported
  bool backwards = false; ///< from the last thread to the first
  /// Loops that count their rounds go through all of them (Rehearsal::Impatient). In lockstep: how many
  /// accesses a thread makes at once there, and just behind; 0: nobody does.
  std::uint8_t impatient = 0;
  bool nobodyWaits = false;             ///< of Rehearsal::FromFull: threads need not go in step yet
  bool inStep = false;                  ///< nobody stays away longer than others (Rehearsal::InStep)
  unsigned uneven = 0;                  ///< number of the attempt; 0: nobody sleeps (Rehearsal::Uneven)
  bool cut = false;                     ///< the rehearsal has come to its bound before its end
  std::uint64_t work = 0;               ///< turns of threads and blocks so far
  std::uint64_t mostWork = 0;           ///< of a rehearsal, as costOf() counts
  std::uint64_t clockEntriesBefore = 0; ///< Context::clockEntries when it started
  /// A volatile access may be that of a flag that fences make safe.
  bool mayBeFlag(std::uint32_t site) const {
    return tracksSync && module && site < module->siteCount &&
           (module->sites[site].flags & abi::SiteVolatile);
  }
  /// A look at the shadow may settle an access there.
  bool isPlain(std::uint32_t site) const {
    return !careful || !module || site >= module->siteCount || !(module->sites[site].flags & careful);
  }
  /// The block that starts as number `nth`.
  std::uint64_t blockAt(std::uint64_t nth) const { return backwards ? gridBlocks - 1 - nth : nth; }
  std::uint64_t progress = 0; ///< counts what shows that threads get somewhere
  std::uint64_t clockReads = 0;
  // Of launches that others run beside (company.h).
  bool mayWait = false;          ///< where its threads only poll, the host may go on
  bool unrehearsed = false;      ///< other orders would be tried, were it not for that
  bool inCompany = false;        ///< others have run, or may have, between its start and its end
  std::vector<std::byte> packed; ///< its arguments
  std::shared_ptr<Grid> grid;    ///< of one that has been set aside
  Streams::Running place;
  std::uint64_t sequence = 0; ///< in its stream
  bool isOwn(std::uint64_t block) const { return block >> kLaunchShift == firstBlock >> kLaunchShift; }
};

} // namespace kcheck::runtime
