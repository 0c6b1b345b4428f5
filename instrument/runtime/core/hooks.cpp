// The calls of abi_calls.def that core/ answers: accesses, fences, frames, traps.
#include "instrument/runtime/core/access.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/log.h"
#include "instrument/runtime/core/metrics.h"
#include "instrument/runtime/core/outside.h"
#include "instrument/runtime/core/own_arrays.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/rows.h"
#include "instrument/runtime/core/scheduler.h"
#include "instrument/runtime/core/sync.h"

#include <string>

using namespace kcheck;
using namespace kcheck::runtime;

namespace {

ThreadState& stateOf(abi::ThreadContext* thread) { return *static_cast<ThreadState*>(thread); }

void before(ThreadState& thread, Address address, std::uint64_t bytes, std::uint32_t site) {
  goesOn(thread);
  constexpr std::uint32_t every = 1u << 16;
  if (++thread.visits % every == 0) [[unlikely]]
    runtime::log().header().runningSite.store(site, std::memory_order_relaxed);
  LaunchState& launch = *thread.owner().launch;
  if (launch.logged) settleRows(launch);
  if (launch.steps) stepAccess(thread);
  if (launch.accesses) logAccess(*launch.accesses, thread, address, bytes, site);
}

/// Takes the number of the array out of `bytes`. False: the access has left it, and that has been told.
bool staysInArray(ThreadState& thread, Address address, std::uint64_t& bytes, std::uint32_t site,
                  runtime::AccessKind kind) {
  const auto array = static_cast<std::uint32_t>(bytes >> abi::kArrayShift);
  bytes = static_cast<std::uint32_t>(bytes);
  if (!array || bytes == 0) [[likely]]
    return true;
  LaunchState& launch = *thread.owner().launch;
  if (launch.arrays[array].holds(address, address, bytes) || !inArena(address) ||
      !leavesOwnArray(launch, array, address, bytes)) [[likely]]
    return true;
  if (launch.logged) settleRows(launch);
  reportBeyond(thread, array, address, bytes, site, kind);
  return false;
}

wire::Finding findingOf(const ThreadState& thread, wire::Rule rule) {
  leaveShare(*thread.owner().launch);
  wire::Finding finding = emptyFinding(rule);
  finding.kernel = thread.owner().launch->name;
  finding.accessCount = 1;
  finding.access[0] = describeThread(thread, wire::kNoSite, wire::Doing::None);
  return finding;
}

/// Zeroed, or as the initialiser will leave it: device variables have content before the first launch.
void placeGlobals(const abi::ModuleEntry& module) {
  for (std::uint32_t i = 0; i < module.globalCount; ++i) {
    const abi::GlobalEntry& global = module.globals[i];
    bool constant = global.space == static_cast<std::uint8_t>(MemorySpace::Constant);
    std::lock_guard lock(context().mutex);
    MemoryKind kind = global.managed ? MemoryKind::Managed
                      : constant     ? MemoryKind::Constant
                                     : MemoryKind::Symbol;
    *global.slot = context().allocations.add(global.bytes, kind, nullptr, global.name);
  }
  if (module.initialise) module.initialise();
}

} // namespace

extern "C" {

void kcRegisterModule(const abi::ModuleEntry* module) {
  if (module->version != abi::kVersion || !mapArenas()) return;
  context().modules.push_back(module);
  context().callees.insert(module->callees, module->callees + module->calleeCount);
  placeGlobals(*module);
}

void kcRead(abi::ThreadContext* context, void* pointer, std::uint64_t bytes, std::uint32_t site) {
  ThreadState& thread = stateOf(context);
  auto address = reinterpret_cast<Address>(pointer);
  const bool stays = staysInArray(thread, address, bytes, site, runtime::AccessKind::Read);
  if (bytes == 0) return; // a copy of nothing
  before(thread, address, bytes, site);
  if (!stays || thread.owner().launch->quiet.cover(address, bytes)) return;
  access<runtime::AccessKind::Read>(thread, address, bytes, site);
}

void kcWrite(abi::ThreadContext* context, void* pointer, std::uint64_t bytes, std::uint32_t site) {
  ThreadState& thread = stateOf(context);
  auto address = reinterpret_cast<Address>(pointer);
  const bool stays = staysInArray(thread, address, bytes, site, runtime::AccessKind::Write);
  if (bytes == 0) return; // a copy of nothing
  before(thread, address, bytes, site);
  thread.owner().launch->quiet.noteWrite(address, bytes);
  if (stays) access<runtime::AccessKind::Write>(thread, address, bytes, site);
}

void kcAtomic(abi::ThreadContext* context, void* pointer, std::uint64_t bytes, std::uint32_t site,
              std::uint32_t order) {
  ThreadState& thread = stateOf(context);
  auto address = reinterpret_cast<Address>(pointer);
  const bool stays = staysInArray(thread, address, bytes, site, runtime::AccessKind::Atomic);
  before(thread, address, bytes, site);
  AtomicOrder atomic{order};
  if (atomic.stores()) thread.owner().launch->quiet.noteWrite(address, bytes);
  if (!stays) return;
  const BlockState& block = thread.owner();
  if (!block.launch->exact && atomic.stores() && atomic.scope() == 2 && bytes == 4 && inArena(address) &&
      !inShared(address) && !(address & 3) && fastAtomicGlobal(thread, block, address))
    return;
  runtime::AccessKind kind = !atomic.stores()  ? runtime::AccessKind::AtomicLoad
                             : !atomic.loads() ? runtime::AccessKind::AtomicStore
                                               : runtime::AccessKind::Atomic;
  checkAccess(thread, address, bytes, site, kind, atomic);
}

void kcTurn(abi::ThreadContext* context) { stepAccess(stateOf(context)); }

void kcFence(abi::ThreadContext* context, std::uint32_t scope) {
  ThreadState& thread = stateOf(context);
  if (thread.owner().launch->tracksSync) fence(thread, scope);
}

void kcLocal(abi::ThreadContext* context, void* base, std::uint64_t arrayBytes, void* pointer,
             std::uint64_t bytes, std::uint32_t site) {
  goesOn(stateOf(context));
  checkLocal(stateOf(context), reinterpret_cast<Address>(base), arrayBytes,
             reinterpret_cast<Address>(pointer), bytes, site);
}

void kcUnwritten(abi::ThreadContext* context, bool /*missing*/, const char* name, std::uint64_t bytes,
                 std::uint32_t site) {
  wire::Finding finding = findingOf(stateOf(context), wire::Rule::UninitializedRead);
  finding.access[0] = describeThread(stateOf(context), site, wire::Doing::Read);
  finding.memory.space = static_cast<std::uint8_t>(MemorySpace::Local);
  finding.memory.name = text(name);
  finding.memory.bytes = static_cast<std::uint32_t>(bytes);
  finding.memory.flags = wire::NoAllocation;
  report(finding);
}

void* kcFrame(abi::ThreadContext* context, std::uint64_t bytes) {
  return stateOf(context).owner().frames.take(bytes);
}

void kcBlock(abi::ThreadContext* context) { stateOf(context).fibre->leave(); }

void kcAssertFail(abi::ThreadContext* context, const char* expression, const char* file, std::uint32_t line,
                  const char* function) {
  ThreadState& thread = stateOf(context);
  settleRows(*thread.owner().launch);
  wire::Finding finding = findingOf(thread, wire::Rule::AssertFailed);
  finding.text = text(expression);
  finding.hint = text(function);
  finding.detail = text(file);
  finding.numbers[0] = line;
  report(finding);
  abandonThread(thread, DeviceFault::Assert);
}

void kcAssumptionFails(abi::ThreadContext* context, const char* expression, const char* file,
                       std::uint32_t line) {
  wire::Finding finding = findingOf(stateOf(context), wire::Rule::AssertFailed);
  finding.text = text(expression);
  finding.detail = text(file);
  finding.numbers[0] = line;
  finding.numbers[1] = 1;
  report(finding);
}

void kcCallee(abi::ThreadContext* context, const void* function, std::uint32_t site) {
  if (runtime::context().callees.contains(function)) return;
  stopWithoutFunction(context,
                      function
                          ? "the call leads to no device function: host code took the function's address, "
                            "or made the object with virtual functions"
                          : "call of a function through a null pointer",
                      site);
}

void kcTrap(abi::ThreadContext* context, std::uint32_t site) {
  ThreadState& thread = stateOf(context);
  settleRows(*thread.owner().launch);
  wire::Finding finding = findingOf(thread, wire::Rule::Trap);
  finding.access[0].site = site;
  finding.text = text("executes a trap, which ends the kernel");
  report(finding);
  abandonThread(thread, DeviceFault::Trap);
}

void kcUnsupported(abi::ThreadContext* context, const char* feature, std::uint32_t site) {
  ThreadState& thread = stateOf(context);
  settleRows(*thread.owner().launch);
  wire::Finding finding = findingOf(thread, wire::Rule::Unsupported);
  finding.access[0].site = site;
  finding.text = text(feature);
  report(finding);
  abandonThread(thread, DeviceFault::Trap);
}

} // extern "C"
