#include "instrument/runtime/core/blocks.h"

#include "instrument/runtime/core/company.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/crew.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/rehearsal.h"
#include "instrument/runtime/core/rows.h"
#include "instrument/runtime/core/scheduler.h"
#include "instrument/runtime/core/shadow.h"

#include <algorithm>
#include <utility>

#include <pthread.h>

namespace kcheck::runtime {
namespace {

/// Unchecked bytes before the first shared variable, so that negative indices stay in the window.
constexpr std::size_t kLead = 4096;
constexpr std::size_t kMostRooms = 4096, kMostThreads = 1 << 20;
constexpr std::size_t kMostFibres = 16384; ///< each takes two mappings, of which Linux grants 65,530

/// The window's cells: unwritten where variables are, poison elsewhere.
void layOutWindow(BlockState& room, const LaunchState& launch) {
  const KernelEntry& kernel = *launch.kernel;
  Address window = windowOf(room.slot), base = window + kLead;
  constexpr Address dynamicAlign = 128;
  Address dynamic = (base + kernel.staticSharedBytes + dynamicAlign - 1) & ~(dynamicAlign - 1);
  room.shared = reinterpret_cast<std::byte*>(base);
  room.dynamicSharedBase = reinterpret_cast<std::byte*>(dynamic);
  room.dynamicShared = static_cast<std::uint32_t>(launch.config.dynamicShared);
  room.staticShared = kernel.declaredSharedBytes;
  if (room.laidOutFor == &kernel && room.laidOutDynamic == launch.config.dynamicShared) return;
  if (room.laidOutFor) dropShadow(window, kWindowBytes);
  room.laidOutFor = &kernel;
  room.laidOutDynamic = launch.config.dynamicShared;
  for (std::uint32_t i = 0; i < kernel.sharedCount; ++i)
    fillShadow(base + kernel.shared[i].offset, kernel.shared[i].bytes, kUnwritten);
  fillShadow(dynamic, launch.config.dynamicShared, kUnwritten);
}

/// Indices of the threads, which stay the same for all blocks of a launch.
void makeThreads(BlockState& room, const LaunchState& launch) {
  const Dim3& shape = launch.config.block;
  if (room.threadCount != launch.blockThreads) {
    room.threadCount = launch.blockThreads;
    room.threads = std::make_unique<ThreadState[]>(room.threadCount);
  }
  room.warps = (room.threadCount + kWarpSize - 1) / kWarpSize;
  for (std::uint32_t i = 0; i < room.threadCount; ++i) {
    ThreadState& thread = room.threads[i];
    thread.threadIdx[0] = i % shape.x;
    thread.threadIdx[1] = i / shape.x % shape.y;
    thread.threadIdx[2] = i / shape.x / shape.y;
    thread.linear = i;
    thread.lane = i % kWarpSize;
    thread.warp = i / kWarpSize;
    thread.block = static_cast<abi::BlockContext*>(&room);
  }
}

void prepareRoom(BlockState& room, LaunchState& launch) {
  room.launch = &launch;
  setShape(room, launch.config);
  makeThreads(room, launch);
  layOutWindow(room, launch);
  room.many = 2 * room.threadCount;
  room.launchMany = launch.many;
  room.floor = launch.floor;
  room.exact = launch.exact;
}

BlockState& freeRoom(LaunchState& launch) {
  for (auto& room : launch.slots)
    if (!room->running) {
      if (room->launch != &launch || room->launchNumber != launch.number) prepareRoom(*room, launch);
      room->launchNumber = launch.number;
      return *room;
    }
  auto room = std::make_unique<BlockState>();
  room->slot = launch.share ? launch.firstSlot : context().windowsUsed++;
  prepareRoom(*room, launch);
  room->launchNumber = launch.number;
  launch.slots.push_back(std::move(room));
  return *launch.slots.back();
}

} // namespace

void setShape(abi::BlockContext& block, const LaunchConfig& config) {
  auto set = [](std::uint32_t* to, const Dim3& from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
  };
  set(block.gridDim, config.grid);
  set(block.blockDim, config.block);
  block.gridWorkspace = config.cooperative ? 0x1000 : 0;
}

Token takeInterval(const BlockState& block) {
  if (Share* share = block.launch->share) return share->takeInterval(block);
  return context().epochs.takeInterval(block.index, block.threadCount);
}

namespace {

/// Where this thread's stack ends; 0 where the system does not tell. Asked once per thread: for the first
/// thread of a program the C library reads the whole map of the process, longer than a small launch takes.
Address stackEnd() {
  thread_local const Address end = [] {
    pthread_attr_t attributes;
    void* low = nullptr;
    std::size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &low, &bytes);
      pthread_attr_destroy(&attributes);
    }
    return reinterpret_cast<Address>(low);
  }();
  return end;
}

} // namespace

void findStack(LaunchState& launch) {
  launch.stackLow = stackEnd();
  launch.stackHigh = reinterpret_cast<Address>(__builtin_frame_address(0));
}

std::size_t mostResident(const LaunchState& launch) {
  if (launch.share) return 1;
  const std::size_t room = launch.slots.size() + kWindowsOfOne - context().windowsUsed;
  if (launch.config.cooperative || (launch.kernel->usesGridSync & abi::TraitGridSync)) return room;
  if (launch.rehearsal && launch.fibres)
    return std::min(room, std::max<std::size_t>(kMostRehearsed / launch.blockThreads, 2));
  const std::size_t threads = launch.fibres ? kMostFibres : kMostThreads;
  return std::min(room, std::clamp<std::size_t>(threads / launch.blockThreads, 16, kMostRooms));
}

BlockState& startBlock(LaunchState& launch, std::uint64_t index) {
  BlockState& block = freeRoom(launch);
  const Dim3& grid = launch.config.grid;
  block.running = true;
  block.index = launch.firstBlock + index;
  block.blockIdx[0] = static_cast<std::uint32_t>(index % grid.x);
  block.blockIdx[1] = static_cast<std::uint32_t>(index / grid.x % grid.y);
  block.blockIdx[2] = static_cast<std::uint32_t>(index / grid.x / grid.y);
  block.live = block.threadCount;
  block.alone = true;
  block.anyYields = block.anyCopies = false;
  block.floor = launch.floor;
  block.launchMany = launch.many;
  block.born = block.ordered = block.interval = takeInterval(block);
  // Of the block that had the room before: barriers of part of a block leave some of it in any launch.
  block.known.clear();
  block.knownWide.clear();
  block.fenced = {};
  if (launch.tracksSync) block.before.clear();
  if (launch.logged) meetBlock(launch);
  std::uint64_t* const rows = launch.logged ? beginOfRows(launch) : nullptr;
  for (ThreadState& thread : block) {
    thread.me = block.interval + 2 * thread.linear;
    thread.log = rows ? rows + thread.lane : nullptr;
    thread.status = ThreadStatus::NotStarted;
    thread.coroutine = nullptr;
    thread.carry = 0;
    thread.turns = launch.logged && launch.steps;
    thread.yields = 0;
    thread.asleep = 0;
    thread.pause = thread.haste = 0;
    thread.strays = 0;
    if (thread.sync) *thread.sync = SyncState();
    thread.copies.reset();
  }
  for (std::uint32_t barrier = 0; barrier < kBarriers; ++barrier)
    if (std::exchange(block.arrived[barrier], 0)) block.arrivedKnown[barrier].clear();
  return block;
}

void endBlock(BlockState& block) {
  if (block.launch->logged) leaveBlock(*block.launch);
  block.running = false;
  block.live = 0;
  block.frames.reset();
  block.sharedLocals.reset();
}

bool tokensRunOut(const LaunchState& launch) {
  if (launch.share || !context().epochs.exhausted(kTokenReserve)) return false; // shares are given theirs
  wire::Finding finding = emptyFinding(wire::Rule::Unsupported);
  finding.kernel = launch.name;
  finding.caller = reinterpret_cast<std::uint64_t>(launch.config.caller);
  finding.text = text("so many barriers in one launch (does each of its loops end?)");
  report(finding);
  return true;
}

void renewTokensIfNeeded(LaunchState& launch, bool quiet) {
  Context& all = context();
  if (!quiet || !liveLaunches().empty() || !all.epochs.exhausted(2 * kTokenReserve)) return;
  endCompany();
  auto renew = [](Cell& cell) {
    if (!isReserved(cell.write)) cell.write = kOld;
    cell.read = 0;
  };
  auto renewRange = [&](Address from, std::size_t bytes, Token written) {
    for (Address at = from; at < from + bytes; at += 4) {
      Cell& cell = cellOf(at);
      if (cell.write == kUnknown) continue;
      if (cell.write == kBytes) {
        ByteCells& bytes = byteCells(cell);
        for (Cell& byte : bytes.cell) renew(byte);
        if (bytes.hidden) std::fill_n(bytes.hidden, 4, Hidden());
        continue;
      }
      renew(cell);
      if (cell.write == kOld) cell.write = written;
    }
  };
  all.allocations.forEach([&](const Allocation& allocation) {
    if (allocation.live) renewRange(reinterpret_cast<Address>(allocation.base), allocation.bytes, kOld);
  });
  for (const auto& state : allStates())
    for (auto& room : state->slots) renewRange(windowOf(room->slot), kWindowBytes, kUnwritten);
  layOutAgain();
  all.epochs.restart();
  all.epochs.forgetOwners();
  all.streams.forget();
  all.hostKnows.forget();
  beginTokens(launch);
}

} // namespace kcheck::runtime
