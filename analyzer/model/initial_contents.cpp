// What is read of memory that keeps what it held before the kernel: initialised variables, structures that
// the run has passed, and the pointers in either.
#include "analyzer/model/execution.h"
#include "analyzer/model/prepare/member_objects.h"
#include "report/assumptions.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/GlobalVariable.h"

#include <algorithm>
#include <set>

using namespace llvm;

namespace kcheck::analyzer {

constexpr std::uint64_t kMostEntries = 32;     ///< of tables that are told apart
constexpr std::uint64_t kMostListed = 1 << 16; ///< of those that are functions of the place

bool mayBeWrittenByHost(const Facts& facts, const GlobalVariable& variable) {
  SmallVector<DIGlobalVariableExpression*, 1> infos;
  variable.getDebugInfo(infos);
  return infos.empty() || facts.hostVariables.contains(infos[0]->getVariable()->getName().str());
}

/// What a variable begins with at `at`. Null where that is not told.
Expr Execution::initialEntry(const GlobalVariable& variable, Type* type, std::uint64_t at) {
  auto* entry = ConstantFoldLoadFromConst(const_cast<Constant*>(variable.getInitializer()), type,
                                          APInt(64, at), state.layout);
  if (!entry || isa<ConstantExpr>(entry->stripPointerCasts())) return nullptr;
  return value(entry->stripPointerCasts());
}

/// A function of the place, of which all values are known. Null where they are not.
Expr Execution::listedContent(const GlobalVariable& variable, Type* type, const Place& place,
                              std::uint64_t apart) {
  const std::string role = "table " + std::to_string(place.object) + " by " + std::to_string(apart);
  Function* listed =
      state.symbols.function(nullptr, role, state.objects[place.object].name, widthOf(type, state.layout));
  if (listed->table.empty()) {
    const std::uint64_t step = state.layout.getTypeStoreSize(type).getFixedValue();
    const std::uint64_t size = state.layout.getTypeAllocSize(variable.getValueType()).getFixedValue();
    std::vector<std::int64_t> entries;
    for (std::uint64_t at = 0; at + step <= size; at += apart) {
      Expr entry = initialEntry(variable, type, at);
      if (!entry || !isConst(entry)) return nullptr;
      entries.push_back(entry->value);
    }
    listed->injective = std::set(entries.begin(), entries.end()).size() == entries.size();
    listed->table = Table(std::move(entries), std::int64_t(apart));
  }
  return exprs.apply(listed, {place.offset});
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
  if (state.prepared.writtenVariables.count(wholeName(variable))) return nullptr; // by another kernel
  std::uint64_t step = state.layout.getTypeStoreSize(instruction.getType()).getFixedValue();
  std::uint64_t size = state.layout.getTypeAllocSize(variable.getValueType()).getFixedValue();
  const auto* load = dyn_cast<LoadInst>(&instruction);
  const std::uint64_t apart = load ? std::min<std::uint64_t>(step, load->getAlign().value()) : step;
  const bool isOpen = !isConst(place.offset) || (isPointer && !isAlone(instruction, place));
  const bool isLong = isOpen && size / apart > kMostEntries;
  if (isLong && (isPointer || size / apart > kMostListed))
    return nullptr; // nor at one place that others may be
  Expr content = isLong ? listedContent(variable, instruction.getType(), place, apart) : nullptr;
  for (std::uint64_t at = 0; !isLong && at + step <= size; at += apart) {
    if (!isOpen && place.offset->value != std::int64_t(at)) continue;
    Expr entry = initialEntry(variable, instruction.getType(), at);
    if (!entry) return nullptr;
    Expr here = exprs.eq(place.offset, exprs.constant(64, std::int64_t(at)));
    content = content ? exprs.ite(here, entry, content) : entry;
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
  if (instruction.getType()->isPointerTy()) return passedPointer(instruction, place, passed);
  if (!instruction.getType()->isIntegerTy() || !isConst(place.offset) || place.offset->value < 0)
    return nullptr;
  const unsigned width = widthOf(instruction.getType(), state.layout);
  const auto value = width % 8 == 0 && width <= 64
                         ? passed.integer(std::size_t(place.offset->value), width / 8)
                         : std::nullopt;
  return value ? exprs.constant(width, normalize(*value, width)) : nullptr;
}

/// Where any of some may be read, all of them have to be known.
Expr Execution::passedPointer(const Instruction& instruction, const Place& place, const PassedValue& passed) {
  const bool isOne = isAlone(instruction, place);
  const Reach reach = state.familyOf(place.object, reachOf(instruction, place)).reach;
  Expr content = nullptr;
  std::size_t known = 0;
  for (const PassedValue::Pointer& pointer : passed.pointers) {
    const auto at = std::int64_t(pointer.at);
    if (!reach.contains(at)) continue;
    MemoryObject fresh;
    fresh.name = state.facts.allocations[pointer.allocation].name;
    if (fresh.name.empty()) fresh.name = state.objects[place.object].name + "+" + std::to_string(at);
    Expr found = exprs.add(state.objects.pointerTo(state.allocationObject(pointer.allocation, fresh)),
                           exprs.constant(64, pointer.byteOffset), NoSignedWrap);
    content = content ? exprs.ite(exprs.eq(place.offset, exprs.constant(64, at)), found, content) : found;
    ++known;
  }
  constexpr std::int64_t kBytes = 8;
  const auto size = std::int64_t(passed.bytes.size());
  const std::int64_t slots = (std::min(reach.to, size) - std::max<std::int64_t>(reach.from, 0)) / kBytes;
  return isOne || (known <= kMostEntries && std::int64_t(known) == slots) ? content : nullptr;
}

} // namespace kcheck::analyzer
