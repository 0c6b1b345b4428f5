// What is read of memory that keeps what it held before the kernel: initialised variables, structures that
// the run has passed, and the pointers in either.
#include "analyzer/model/execution.h"
#include "report/assumptions.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/GlobalVariable.h"

using namespace llvm;

namespace kcheck::analyzer {

bool mayBeWrittenByHost(const Facts& facts, const GlobalVariable& variable) {
  SmallVector<DIGlobalVariableExpression*, 1> infos;
  variable.getDebugInfo(infos);
  return infos.empty() || facts.hostVariables.contains(infos[0]->getVariable()->getName().str());
}

/// The content of a variable that keeps its initial value: of constants, and of initialised tables of
/// pointers and in constant memory, which host code is assumed to leave alone. Null when there is none.
Expr Execution::initialContent(const Instruction& instruction, const Place& place) {
  auto found = state.globals.find(place.object);
  if (found == state.globals.end() || !state.knowsWritten || state.isWritten(place.object)) return nullptr;
  const GlobalVariable& variable = *found->second;
  bool isPointer = instruction.getType()->isPointerTy();
  if (!variable.hasInitializer() || isa<UndefValue>(variable.getInitializer())) return nullptr;
  bool isTable = isPointer || state.objects[place.object].space == MemorySpace::Constant;
  if (!variable.isConstant() && (!isTable || variable.getInitializer()->isNullValue())) return nullptr;
  if (!variable.isConstant() && mayBeWrittenByHost(state.facts, variable)) return nullptr;
  if (state.prepared.writtenVariables.count(variable.getName().str())) return nullptr; // by another kernel
  std::uint64_t step = state.layout.getTypeStoreSize(instruction.getType()).getFixedValue();
  std::uint64_t size = state.layout.getTypeAllocSize(variable.getValueType()).getFixedValue();
  const auto* load = dyn_cast<LoadInst>(&instruction);
  const std::uint64_t apart = load ? std::min<std::uint64_t>(step, load->getAlign().value()) : step;
  constexpr std::uint64_t kMostEntries = 32;
  if (!isConst(place.offset) && size / apart > kMostEntries) return nullptr;
  Expr content = nullptr;
  for (std::uint64_t at = 0; at + step <= size; at += apart) {
    if (isConst(place.offset) && place.offset->value != std::int64_t(at)) continue;
    auto* entry = ConstantFoldLoadFromConst(const_cast<Constant*>(variable.getInitializer()),
                                            instruction.getType(), APInt(64, at), state.layout);
    if (!entry || isa<ConstantExpr>(entry->stripPointerCasts())) return nullptr;
    Expr v = value(entry->stripPointerCasts());
    Expr here = exprs.eq(place.offset, exprs.constant(64, std::int64_t(at)));
    content = content ? exprs.ite(here, v, content) : v;
  }
  if (content && !variable.isConstant())
    state.assume(std::string(kHostLeaves) + state.objects[place.object].name + "` as it is initialised");
  return content;
}

/// What the run passed in a structure. Null where that is not known.
Expr Execution::passedContent(const Instruction& instruction, const Place& place) {
  const auto found = state.passed.find(place.object);
  if (found == state.passed.end() || !state.knowsWritten || state.isWritten(place.object)) return nullptr;
  const PassedValue& passed = *found->second;
  if (!isConst(place.offset) || place.offset->value < 0) return nullptr;
  const auto at = std::size_t(place.offset->value);
  if (instruction.getType()->isIntegerTy()) {
    const unsigned width = widthOf(instruction.getType(), state.layout);
    const auto value = width % 8 == 0 && width <= 64 ? passed.integer(at, width / 8) : std::nullopt;
    return value ? exprs.constant(width, normalize(*value, width)) : nullptr;
  }
  if (!instruction.getType()->isPointerTy()) return nullptr;
  for (const PassedValue::Pointer& pointer : passed.pointers) {
    if (pointer.at != at) continue;
    MemoryObject fresh;
    fresh.name = state.facts.allocations[pointer.allocation].name;
    if (fresh.name.empty()) fresh.name = state.objects[place.object].name + "+" + std::to_string(at);
    return exprs.add(state.objects.pointerTo(state.allocationObject(pointer.allocation, fresh)),
                     exprs.constant(64, pointer.byteOffset), NoSignedWrap);
  }
  return nullptr;
}

/// A pointer read from memory points into an object of its own: whatever the pointers stored there lead to.
Expr Execution::pointerFrom(const Instruction& instruction, const Place& place) {
  const MemoryObject object = state.objects[place.object];
  state.pointerSources.insert(place.object);
  const auto variable = state.globals.find(place.object);
  const bool isChanged = variable != state.globals.end() &&
                         state.prepared.writtenVariables.count(variable->second->getName().str()) != 0;
  if (object.space == MemorySpace::Local || object.isUnknown || isChanged ||
      state.changedPointerSources.count(place.object)) {
    // Wherever it leads: in shared memory, what stays there leads all threads of the block to one place.
    Expr found = object.space == MemorySpace::Shared
                     ? loadFrom(instruction, place)
                     : fresh(&instruction, "pointer", "a pointer (" + state.lineText(instruction) + ")",
                             {{}, "a pointer read from memory at " + state.lineText(instruction)});
    return exprs.add(state.objects.pointerTo(state.objects.unknown()), found);
  }
  MemoryObject target;
  bool fixed = isConst(place.offset);
  std::string where = fixed ? std::to_string(place.offset->value) : "[]";
  target.name = object.name + (fixed ? "+" + where : where);
  unsigned id = state.objects.object("through " + std::to_string(place.object) + " " + where, target);
  state.assume("memory reached through the pointers in `" + object.name + "` " + std::string(kReachedApart));
  Expr base = state.objects.pointerTo(id);
  if (fixed) return base;
  // Each leads to an array of its own: as if these lay far apart, nobody knows where exactly.
  state.assume("each of the pointers in `" + object.name + "` leads to an array that " +
               std::string(kReachedApart));
  constexpr unsigned kUnknownBits = 30;
  constexpr std::int64_t kApart = std::int64_t(1) << 33; // a byte of the table, of which a pointer has eight
  auto* offsets = state.symbols.function(nullptr, "pointers " + std::to_string(place.object),
                                         object.name + "'s target", kUnknownBits);
  offsets->exact = false;
  offsets->cause = {CauseKind::Approximation, "the pointers in `" + object.name + "`"};
  Expr unknown = exprs.extend(Op::ZExt, 64, exprs.apply(offsets, {place.offset}));
  Expr apart = exprs.mul(place.offset, exprs.constant(64, kApart), NoSignedWrap);
  return exprs.add(base, exprs.add(apart, unknown, NoSignedWrap), NoSignedWrap);
}

} // namespace kcheck::analyzer
