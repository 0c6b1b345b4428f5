#include "instrument/runtime/core/shared_locals.h"

#include "instrument/runtime/core/company.h"
#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/race.h"
#include "instrument/runtime/core/share.h"

using namespace kcheck;
using namespace kcheck::runtime;

namespace kcheck::runtime {
namespace {

/// The block that runs now, or ran before, in whose room the address lies.
const BlockState* blockOf(Address address) {
  for (const auto& launch : allStates())
    for (const auto& block : launch->slots)
      if (block->sharedLocals.holds(address)) return block.get();
  return nullptr;
}

} // namespace

bool reportOthersLocal(ThreadState& thread, Address address, std::size_t bytes, std::uint32_t site,
                       wire::Doing doing) {
  leaveShare(*thread.owner().launch);
  const BlockState* block = blockOf(address);
  if (!block) return false;
  wire::Finding finding = emptyFinding(wire::Rule::WrongSpace);
  finding.kernel = thread.owner().launch->name;
  finding.caller = reinterpret_cast<std::uint64_t>(thread.owner().launch->config.caller);
  finding.accessCount = 1;
  finding.access[0] = describeThread(thread, site, doing);
  finding.text = text("ended");
  finding.memory.space = static_cast<std::uint8_t>(MemorySpace::Local);
  finding.memory.flags = wire::NoAllocation;
  finding.memory.bytes = static_cast<std::uint32_t>(bytes);
  if (const SharedLocal* local = block->sharedLocals.at(address)) {
    finding.text = text("local");
    finding.access[1] = describeThread(block->threads[local->thread], site, wire::Doing::None);
    finding.memory.name = text(local->name);
  }
  report(finding);
  return true;
}

} // namespace kcheck::runtime

extern "C" {

void* kcSharedLocal(abi::ThreadContext* context, std::uint64_t bytes, const char* name) {
  ThreadState& thread = *static_cast<ThreadState*>(context);
  return thread.owner().sharedLocals.add(thread.linear, bytes, name);
}

} // extern "C"
