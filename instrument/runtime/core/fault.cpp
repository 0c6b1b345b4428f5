#include "instrument/runtime/core/fault.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/host_guard.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/rows.h"
#include "instrument/runtime/core/scheduler.h"
#include "instrument/runtime/core/share.h"

#include <csignal>
#include <cstdlib>

#include <pthread.h>

namespace kcheck::runtime {
namespace {

struct Handlers {
  struct sigaction before[4];
  pthread_t deviceThread;
  bool active = false;
};

Handlers& handlers() {
  static Handlers* instance = new Handlers;
  return *instance;
}

/// The access itself has been reported by its hook if it had one; this says how it ended.
void onFault(int signal, siginfo_t* info, void* state) {
  if (isFaultBesideLaunch(signal, info, state)) return;
  if (Share* share = shareOfThread(); share && handlers().active) share->leave();
  LaunchState* launch = context().launch;
  bool device = handlers().active && launch && launch->current &&
                pthread_equal(pthread_self(), handlers().deviceThread);
  if (!device) { // as if we had not been here
    for (int i = 0; i < 4; ++i) sigaction(kFaults[i], &handlers().before[i], nullptr);
    return;
  }
  ThreadState& thread = *launch->current;
  settleRows(*launch);
  auto address = reinterpret_cast<Address>(info->si_addr);
  bool memory = signal == SIGSEGV || signal == SIGBUS;
  bool stack = memory && (thread.fibre ? address - (thread.fibre->lowest() - 65536) < 65536
                                       : address - (launch->stackLow - 65536) < (1u << 20));
  if (stack || !memory) {
    wire::Finding finding = emptyFinding(wire::Rule::Trap);
    finding.kernel = launch->name;
    finding.accessCount = 1;
    finding.access[0] = describeThread(thread, wire::kNoSite, wire::Doing::None);
    finding.text = text(stack ? "overflows its stack" : "executes an illegal instruction");
    report(finding);
  }
  abandonThread(thread, memory ? DeviceFault::IllegalAddress : DeviceFault::Trap);
}

} // namespace

void giveSignalStack() {
  stack_t current;
  if (sigaltstack(nullptr, &current) == 0 && !(current.ss_flags & SS_DISABLE)) return;
  constexpr std::size_t bytes = 128 << 10;
  stack_t own{};
  own.ss_sp = std::malloc(bytes);
  own.ss_size = bytes;
  sigaltstack(&own, nullptr);
}

FaultGuard::FaultGuard() {
  giveSignalStack();
  struct sigaction action{};
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 4; ++i) sigaction(kFaults[i], &action, &handlers().before[i]);
  handlers().deviceThread = pthread_self();
  handlers().active = true;
}

FaultGuard::~FaultGuard() {
  handlers().active = false;
  for (int i = 0; i < 4; ++i) sigaction(kFaults[i], &handlers().before[i], nullptr);
}

} // namespace kcheck::runtime
