// See initialization.h. Locals are looked for in the promoted code: what promotion could not follow is still
// an array there; of the others model/unwritten.h knows.
#include "analyzer/initialization.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <fmt/format.h>

namespace kcheck::analyzer {
namespace {

/// What of the kernel's accesses matters here.
struct Reads {
  std::string shared; ///< an array of the block's own memory that some thread reads
  bool global = false;
  bool anywhere = false; ///< through a pointer that is not followed
};

Reads readsOf(const KernelModel& model) {
  Reads reads;
  reads.global = model.readsTextures;
  for (const auto* phases : {&model.blockPhases, &model.gridPhases})
    for (const Phase& phase : *phases)
      for (const ModelAccess& access : phase.accesses) {
        if (access.kind == AccessKind::Write) continue;
        const MemoryObject& object = model.objects[access.object];
        if (object.space == MemorySpace::Shared && reads.shared.empty()) reads.shared = object.name;
        reads.global |= object.space == MemorySpace::Global || object.isUnknown;
        reads.anywhere |= object.isUnknown;
      }
  return reads;
}

bool hasSharedMemory(const KernelModel& model) {
  return std::any_of(model.objects.begin(), model.objects.end(),
                     [](const MemoryObject& object) { return object.space == MemorySpace::Shared; });
}

std::string inLine(const Location& where, const std::string& what) {
  return where.known() ? fmt::format("line {}: {}", where.line, what) : what;
}

} // namespace

PropertyResult checkInitialization(const KernelModel& model, const KernelCode& code,
                                   const std::optional<PropertyResult>& ofShared) {
  PropertyResult result;
  result.property = Property::Initialized;
  const Reads reads = readsOf(model);
  if (ofShared && ofShared->answer != Answer::Proved) return *ofShared;
  if (ofShared) result.assumptions = ofShared->assumptions;
  if (!reads.shared.empty() && !ofShared) {
    result.reason =
        fmt::format("whether `{}` is written before it is read is looked for in the run alone", reads.shared);
    result.runAlone = true;
    return result;
  }
  if (!model.gaps.empty()) {
    result.reason = inLine(model.gaps.front().where, model.gaps.front().what);
    return result;
  }
  if (reads.anywhere && hasSharedMemory(model)) {
    result.reason = "what a pointer that is not followed reads is looked for in the run alone";
    result.runAlone = true;
    return result;
  }
  if (code.mayReadUnwritten) {
    result.reason = inLine(code.mayReadUnwritten->where, code.mayReadUnwritten->what);
    return result;
  }
  for (const llvm::Instruction& instruction : llvm::instructions(*code.function)) {
    if (!llvm::isa<llvm::AllocaInst>(instruction)) continue;
    result.reason =
        inLine(locationOf(instruction),
               "whether a local array is written before it is read is looked for in the run alone");
    result.runAlone = true;
    return result;
  }
  result.answer = Answer::Proved;
  if (reads.global) result.assumptions.push_back("what a kernel reads of global memory has been written");
  return result;
}

} // namespace kcheck::analyzer
