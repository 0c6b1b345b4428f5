#include "instrument/runtime/core/crew.h"

#include "instrument/runtime/core/blocks.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/fault.h"
#include "instrument/runtime/core/gate.h"
#include "instrument/runtime/core/log.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <thread>

#include <sched.h>
#include <x86intrin.h>

namespace kcheck::runtime {
namespace {

constexpr unsigned kPatience = 4000; ///< turns; the other thread may have no processor
constexpr std::uint32_t kCopiedParts = 16;

/// One turn of a loop that waits for other threads.
void relax(unsigned& turns) {
  if (++turns < kPatience)
    _mm_pause();
  else
    std::this_thread::yield();
}

/// The checked program handles its signals itself, on threads that it knows; but for faults of device code.
class FaultsOnly {
public:
  FaultsOnly() {
    sigset_t others;
    sigfillset(&others);
    for (int fault : kFaults) sigdelset(&others, fault);
    pthread_sigmask(SIG_SETMASK, &others, &before);
  }
  ~FaultsOnly() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  FaultsOnly(const FaultsOnly&) = delete;
  FaultsOnly& operator=(const FaultsOnly&) = delete;

private:
  sigset_t before;
};

Crew& crew() {
  static Crew* instance = new Crew;
  return *instance;
}

/// What the order of blocks may change, or what only one thread can do, makes a launch unfit.
bool isFit(const LaunchState& launch) {
  const std::uint32_t traits = launch.kernel->usesGridSync;
  constexpr std::uint64_t most = std::uint64_t{1} << 32;
  return launch.logged && (traits & abi::TraitOrderFree) && !(traits & abi::TraitGridSync) &&
         !launch.config.cooperative && !launch.tracksSync && !launch.exact && !launch.fibres &&
         !launch.steps && !launch.rehearsal && launch.schedule == ScheduleKind::Fair &&
         launch.gridBlocks > 1 && launch.gridBlocks < most &&
         launch.floor == launch.many; // else what happens beside it may be in the shadow, and would be lost
}

/// The threads of this process; 0 where the system does not tell.
std::size_t threadsOfProcess() {
  std::ifstream file("/proc/self/stat");
  std::string words;
  std::getline(file, words);
  // Behind the name, which may hold anything: the state, and 16 numbers later that of threads.
  std::istringstream behind(words.substr(std::min(words.size(), words.rfind(')') + 1)));
  constexpr int before = 17;
  std::string skipped;
  for (int i = 0; i < before; ++i) behind >> skipped;
  std::size_t count = 0;
  behind >> count;
  return count;
}

/// Those in which some bytes may not have been written.
std::vector<MemoryRange> notAllWritten(const std::vector<MemoryRange>& ranges) {
  std::vector<MemoryRange> left;
  for (const MemoryRange& range : ranges)
    if (Allocation* array = context().allocations.nearest(range.base); !array || !isWritten(*array))
      left.push_back(range);
  return left;
}

} // namespace

bool Crew::isReady() {
  if (unusable) return false;
  if (!shares.empty()) return true;
  const RuntimeOptions& options = context().options;
  const unsigned processors = options.eager ? options.jobs : std::thread::hardware_concurrency(),
                 count = std::min({options.jobs, processors, LineOwners::kMostShares});
  unusable = count < 2;
  if (unusable) return false;
  for (std::uint32_t i = 0; i < count; ++i) shares.push_back(std::make_unique<Share>(*this, i));
  blocks = std::make_unique<BlockRange[]>(count);
  lines = std::make_unique<LineOwners>();
  const FaultsOnly masked;
  auto body = [](void* helper) -> void* {
    giveSignalStack();
    auto* self = static_cast<Helper*>(helper);
    self->crew->help(*self);
    return nullptr;
  };
  for (std::uint32_t i = 1; i < count; ++i) {
    Helper& helper = *helpers.emplace_back(std::make_unique<Helper>());
    helper.crew = this;
    helper.share = i;
    if (pthread_create(&helper.thread, nullptr, body, &helper) != 0) {
      helpers.pop_back();
      break;
    }
    pthread_setname_np(helper.thread, "kcheck blocks");
    pthread_detach(helper.thread);
  }
  pthread_atfork(nullptr, nullptr, [] { crew().unusable = true; }); // a child has one thread
  return true;
}

bool Crew::isAlone() const { return threadsOfProcess() == 1 + helpers.size() + attendants(); }

bool Crew::run(LaunchState& launch) {
  if (context().options.jobs < 2 || !isFit(launch) || !isReady()) return false;
  pace = &paces[launch.kernel];
  if (!pace->mayBeWorthIt(launch)) return false;
  // What another thread of the program does to the memory meanwhile would be undone with a failed attempt.
  if (!isAlone()) return false;
  std::vector<MemoryRange> ranges = memoryWrittenBy(launch).value_or(liveMemory());
  if (!pace->isWorthCopying(launch, bytesOf(ranges))) return false;
  active = pace->usefulShares(launch, static_cast<std::uint32_t>(shares.size()));
  const Token expected = std::max(pace->tokensOfBlock(), Epochs::tokensOf(launch.blockThreads));
  if (context().epochs.exhausted(kTokenReserve +
                                 std::uint64_t{expected} * (launch.gridBlocks + shares.size())))
    return false;
  const UnwrittenCopy unwritten(notAllWritten(ranges));
  if (!memory.begin(std::move(ranges))) return false;
  if (attempt(launch)) {
    pace->noteDone();
    memory.dropIfLarge();
    return true;
  }
  pace->noteFailed();
  memory.restore();
  memory.dropIfLarge();
  unwritten.restore();
  renewTokensIfNeeded(launch, true);
  beginTokens(launch);
  return false;
}

/// False: a share could not go on.
bool Crew::attempt(LaunchState& launch) {
  const std::uint64_t start = __rdtsc();
  lines->meetLaunch();
  ended = false;
  partsTaken = partsCopied = 0;
  for (std::uint32_t i = 0; i < active; ++i) {
    shares[i]->prepare(launch);
    blocks[i].assign(launch.gridBlocks * i / active, launch.gridBlocks * (i + 1) / active);
  }
  callHelpers();
  work(0);
  dismissHelpers();
  const auto running = std::span(shares).first(active);
  for (const auto& share : running) pace->noteTokens(share->mostTokens());
  const bool good = !ended && std::ranges::all_of(running, [](const auto& share) { return share->settle(); });
  if (!good) return false;
  for (const auto& share : running) share->addTo(launch);
  log().header().shared.fetch_add(1, std::memory_order_relaxed);
  launch.started = launch.gridBlocks;
  pace->noteCycles(launch, double((__rdtsc() - start) * active));
  return true;
}

void Crew::noteRunByOne(const LaunchState& launch, std::uint64_t cycles, Token taken) {
  if (!isFit(launch)) return;
  Pace& known = paces[launch.kernel];
  known.noteCycles(launch, double(cycles));
  known.noteTokens(static_cast<Token>(taken / launch.gridBlocks));
}

void Crew::layOutAgain() {
  for (const auto& share : shares) share->forgetWindow();
}

/// The launching thread's part, or a helper's.
void Crew::work(std::uint32_t share) {
  copyMemory();
  shares[share]->run();
}

/// Part by part: some threads may come late.
void Crew::copyMemory() {
  for (std::uint32_t part; (part = partsTaken.fetch_add(1)) < kCopiedParts; partsCopied.fetch_add(1))
    memory.takePart(part, kCopiedParts);
  for (unsigned turns = 0; partsCopied.load() < kCopiedParts;) relax(turns);
}

std::optional<std::uint64_t> Crew::nextBlock(std::uint32_t share) {
  while (!hasEnded()) {
    if (auto block = blocks[share].takeFirst()) return block;
    std::uint32_t richest = share;
    for (std::uint32_t i = 0; i < active; ++i)
      if (blocks[i].count() > blocks[richest].count()) richest = i;
    if (richest == share) return std::nullopt;
    blocks[share].takeHalfOf(blocks[richest]);
  }
  return std::nullopt;
}

bool Crew::hasCopyOf(Address from, Address to) const {
  const std::vector<MemoryRange>& ranges = memory.ranges();
  auto after = std::ranges::upper_bound(ranges, from, {}, &MemoryRange::base);
  return after != ranges.begin() && to - std::prev(after)->base <= std::prev(after)->bytes;
}

std::optional<Token> Crew::takeTokens(Token count) {
  std::lock_guard lock(tokens);
  if (context().epochs.exhausted(kTokenReserve + count)) return std::nullopt;
  return context().epochs.takeRange(count);
}

void Crew::help(Helper& helper) {
  while (true) {
    for (unsigned turns = 0; turns < kPatience && helper.call.load() == Call::None;) relax(turns);
    helper.call.wait(Call::None);
    Call waits = Call::Waits;
    if (!helper.call.compare_exchange_strong(waits, Call::Taken)) continue;
    work(helper.share);
    helper.call.store(Call::None);
  }
}

void Crew::callHelpers() {
  keepApart();
  for (const auto& helper : helpers) {
    if (helper->share >= active) return;
    helper->call.store(Call::Waits);
    helper->call.notify_one();
  }
}

/// Those that have not come need not come any more.
void Crew::dismissHelpers() {
  for (const auto& helper : helpers) {
    if (helper->share >= active) return;
    Call waits = Call::Waits;
    if (helper->call.compare_exchange_strong(waits, Call::None)) continue;
    for (unsigned turns = 0; helper->call.load() != Call::None;) relax(turns);
  }
}

/// Who wakes another thread likes to have it on its own processor, which is the one that is busy.
void Crew::keepApart() {
  int here = sched_getcpu();
  cpu_set_t processors;
  if (here == busy || sched_getaffinity(0, sizeof processors, &processors) != 0) return;
  busy = here;
  if (CPU_COUNT(&processors) < 2) return;
  CPU_CLR(static_cast<unsigned>(here), &processors);
  for (const auto& helper : helpers) pthread_setaffinity_np(helper->thread, sizeof processors, &processors);
}

bool runBySeveral(LaunchState& launch) { return crew().run(launch); }

bool programHasOneThread() { return crew().isAlone(); }

RunByOne::RunByOne(const LaunchState& launch)
    : launch(launch), started(__rdtsc()), before(context().epochs.now()) {}

RunByOne::~RunByOne() {
  const Token now = context().epochs.now();
  crew().noteRunByOne(launch, __rdtsc() - started, now > before ? now - before : 0);
}

void layOutAgain() { crew().layOutAgain(); }

} // namespace kcheck::runtime
