// See initialization.h. Locals are looked for in the promoted code: what promotion could not follow is still
// an array there, and what it found unwritten is an undefined value.
#include "analyzer/initialization.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <fmt/format.h>

namespace kcheck::analyzer {
namespace {

/// The name of a shared array that some thread reads, or empty.
std::string sharedArrayRead(const KernelModel& model, bool& readsGlobal) {
  std::string name;
  for (const auto* phases : {&model.blockPhases, &model.gridPhases})
    for (const Phase& phase : *phases)
      for (const ModelAccess& access : phase.accesses) {
        const MemoryObject& object = model.objects[access.object];
        if (access.kind == AccessKind::Write) continue;
        if (object.space == MemorySpace::Shared && name.empty()) name = object.name;
        if (object.space == MemorySpace::Global || object.isUnknown) readsGlobal = true;
      }
  return name;
}

/// Uses of a value that nobody wrote. Building a struct or vector piece by piece starts with one.
bool usesUndefined(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::InsertValueInst, llvm::InsertElementInst, llvm::ShuffleVectorInst>(instruction))
    return false;
  for (const llvm::Value* operand : instruction.operands())
    if (llvm::isa<llvm::UndefValue>(operand) && !operand->getType()->isMetadataTy()) return true;
  return false;
}

} // namespace

PropertyResult checkInitialization(const KernelModel& model, const KernelCode& code) {
  PropertyResult result;
  result.property = Property::Initialized;
  bool readsGlobal = false;
  const std::string shared = sharedArrayRead(model, readsGlobal);
  if (!shared.empty()) {
    result.reason =
        fmt::format("whether `{}` is written before it is read is looked for in the run alone", shared);
    result.runAlone = true;
    return result;
  }
  for (const llvm::Instruction& instruction : llvm::instructions(*code.function)) {
    const bool isArray = llvm::isa<llvm::AllocaInst>(instruction);
    if (!isArray && !usesUndefined(instruction)) continue;
    const Location where = locationOf(instruction);
    result.reason = where.known() ? fmt::format("line {}: ", where.line) : "";
    result.runAlone = isArray;
    result.reason += isArray ? "a local array is not followed element by element"
                             : "a local variable may be read before it is written";
    return result;
  }
  result.answer = Answer::Proved;
  if (readsGlobal) result.assumptions.push_back("what a kernel reads of global memory has been written");
  return result;
}

} // namespace kcheck::analyzer
