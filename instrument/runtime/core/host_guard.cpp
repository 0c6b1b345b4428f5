#include "instrument/runtime/core/host_guard.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/gate.h"
#include "instrument/runtime/core/host_accesses.h"
#include "instrument/runtime/core/single_step.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <span>

#include <sched.h>
#include <sys/mman.h>
#include <ucontext.h>

namespace kcheck::runtime {
namespace {

/// Processor time: what a busy machine makes the program wait is no cost of the guard's.
std::chrono::nanoseconds timeOn(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}
std::chrono::nanoseconds threadTime() { return timeOn(CLOCK_THREAD_CPUTIME_ID); }

constexpr Address kPage = 4096;

struct Guard {
  struct Range {
    Address begin, end;
  };
  std::vector<Range> hidden;
  std::atomic_flag busy; ///< `hidden` and the pages change: other threads of the program may fault meanwhile
  int open = 0;          ///< DeviceAccess objects that live
  bool installed = false;
  bool beside = false;            ///< `hidden` is of hideBesideLaunch
  bool asLeft = false;            ///< and the launch has touched none of it since
  unsigned faults = 0, steps = 0; ///< since the memory was hidden; what steps need counts but as such
  unsigned rounds = 0;            ///< how often all has been shown
  struct sigaction before;
  std::chrono::nanoseconds started = timeOn(CLOCK_PROCESS_CPUTIME_ID), spent{};
  /// Changing pages costs time that grows with the memory in use: a twentieth of the run is enough.
  bool tooSlow() const {
    return spent > std::chrono::milliseconds(50) && spent * 20 > timeOn(CLOCK_PROCESS_CPUTIME_ID) - started;
  }
};

Guard& guard() {
  static Guard* instance = new Guard;
  return *instance;
}

class GuardLock {
public:
  GuardLock() {
    while (guard().busy.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~GuardLock() { guard().busy.clear(std::memory_order_release); }
  GuardLock(const GuardLock&) = delete;
  GuardLock& operator=(const GuardLock&) = delete;
};

void protect(Address begin, Address end, int protection) {
  begin &= ~(kPage - 1);
  end = (end + kPage - 1) & ~(kPage - 1);
  if (begin < end) mprotect(reinterpret_cast<void*>(begin), end - begin, protection);
}

void hide(Address begin, Address end) {
  if (begin >= end) return;
  guard().hidden.push_back({begin & ~(kPage - 1), (end + kPage - 1) & ~(kPage - 1)});
  protect(begin, end, PROT_NONE);
}

void showAll() {
  ++guard().rounds;
  for (const Guard::Range& range : guard().hidden) protect(range.begin, range.end, PROT_READ | PROT_WRITE);
  guard().hidden.clear();
  guard().beside = guard().asLeft = false;
}

/// What becomes visible with an access: of memory that both sides use a page, for the next page may be still
/// in use by another stream; larger pieces once there have been many.
Guard::Range opened(const Guard::Range& hidden, Address address) {
  constexpr unsigned kSinglePages = 256, kMost = 1024;
  unsigned faults = ++guard().faults;
  if (hidden.begin < kManagedBase || faults > kMost) return hidden;
  Address bytes = faults > kSinglePages ? 64 * kPage : kPage;
  Address begin = std::max(hidden.begin, address & ~(bytes - 1));
  return {begin, std::min(hidden.end, (address & ~(bytes - 1)) + bytes)};
}

/// Shows what hides the address. Empty where nothing does.
Guard::Range showAt(Address address) {
  GuardLock lock;
  auto range = std::find_if(guard().hidden.begin(), guard().hidden.end(), [&](const Guard::Range& one) {
    return address >= one.begin && address < one.end;
  });
  if (range == guard().hidden.end()) return {};
  guard().asLeft = false;
  const Guard::Range whole = *range, open = opened(whole, address);
  guard().hidden.erase(range);
  if (whole.begin < open.begin) guard().hidden.push_back({whole.begin, open.begin});
  if (open.end < whole.end) guard().hidden.push_back({open.end, whole.end});
  protect(open.begin, open.end, PROT_READ | PROT_WRITE);
  context().hostKnows.meet(open.begin, open.end);
  return open;
}

/// What the calling thread's instruction has been shown alone.
struct ShownOnce {
  std::array<Guard::Range, 4> ranges;
  unsigned count = 0, rounds = 0;
};
thread_local ShownOnce shown;

void hideAgain() {
  const GuardLock lock;
  const bool isSame = shown.rounds == guard().rounds && !guard().open && !guard().beside;
  for (const Guard::Range& range : std::span(shown.ranges).first(shown.count))
    if (isSame) hide(range.begin, range.end);
  shown.count = 0;
}

/// What lies beside an access may be in use by another stream, or what it has touched may not be another
/// thread's to touch: then the next access there shall be seen as well. That costs two signals each.
void showOnce(const Guard::Range& open, void* state) {
  constexpr unsigned kMost = 4096;
  constexpr auto kSignals = std::chrono::microseconds(5);
  const auto start = threadTime();
  if (open.begin < kManagedBase || open.end - open.begin > kPage || shown.count == shown.ranges.size())
    return;
  if (guard().steps > kMost || guard().beside || guard().tooSlow()) return;
  const bool isStep = isInUse(open.begin, open.end) && runAlone(state, hideAgain);
  const GuardLock lock;
  if (isStep) {
    if (!shown.count) shown.rounds = guard().rounds;
    shown.ranges[shown.count++] = open;
    ++guard().steps;
    --guard().faults;
  }
  guard().spent += threadTime() - start + kSignals;
}

void onFault(int signal, siginfo_t* info, void* state) {
  const InRuntime here;
  auto address = reinterpret_cast<Address>(info->si_addr);
  thread_local Address missed = 0; ///< nothing hid it at the last fault
  const Guard::Range open = showAt(address);
  if (!open.end) {
    // Another thread may have shown it meanwhile: once more. Else not ours, as if we had not been here.
    const bool again = address == missed;
    missed = address;
    if (!again && address >= kArenaBase) return;
    GuardLock lock;
    sigaction(signal, &guard().before, nullptr);
    guard().installed = false;
    return;
  }
  missed = 0;
  if (isAttendant()) return;
  const auto& registers = static_cast<ucontext_t*>(state)->uc_mcontext.gregs;
  checkHostAccess(address, registers[REG_RIP], registers[REG_RSP], registers[REG_ERR] & 2);
  showOnce(open, state);
}

/// Memory that kernels and the host share.
void hideShared() {
  context().allocations.forEach([&](const Allocation& allocation) {
    bool shared = allocation.kind == MemoryKind::Managed || allocation.kind == MemoryKind::Pinned;
    if (!allocation.live || !shared) return;
    auto base = reinterpret_cast<Address>(allocation.base);
    hide(base, base + allocation.bytes);
  });
}

void install() {
  if (guard().installed) return;
  struct sigaction action{};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &guard().before);
  guard().installed = true;
}

} // namespace

DeviceAccess::DeviceAccess() {
  if (guard().open++ == 0) showToHost();
}

DeviceAccess::~DeviceAccess() {
  if (--guard().open == 0) hideFromHost();
}

void showToHost() {
  GuardLock lock;
  if (guard().hidden.empty()) return;
  auto start = threadTime();
  showAll();
  guard().spent += threadTime() - start;
}

void hideFromHost() {
  Guard& state = guard();
  if (state.open || !context().options.hostAccess) return;
  auto start = threadTime();
  GuardLock lock;
  showAll();
  if (state.tooSlow()) return;
  state.faults = state.steps = 0;
  install();
  hide(kArenaBase, context().allocations.deviceEnd());
  if (!context().streams.pending())
    context().hostKnows.forget();
  else
    hideShared();
  state.spent += threadTime() - start;
}

void hideBesideLaunch() {
  Guard& state = guard();
  if (!isAttendant() || !context().options.hostAccess) return;
  auto start = threadTime();
  GuardLock lock;
  if (state.asLeft || !state.installed || state.tooSlow()) return;
  showAll();
  hideShared();
  state.beside = state.asLeft = true;
  state.spent += threadTime() - start;
}

bool isFaultBesideLaunch(int signal, siginfo_t* info, void* state) {
  if (signal != SIGSEGV) return false;
  {
    const GuardLock lock;
    if (!guard().beside) return false;
  }
  if (isAttendant()) return showAt(reinterpret_cast<Address>(info->si_addr)).end;
  onFault(signal, info, state);
  return true;
}

} // namespace kcheck::runtime
