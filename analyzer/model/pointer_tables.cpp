// Pointers that are read from memory: where each leads, nobody knows, but two that are read at one place lead
// to one array.
#include "analyzer/model/execution.h"
#include "analyzer/model/prepare/member_objects.h"
#include "report/assumptions.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Operator.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

/// The bytes of its object that a load at `place` may read, by the types in its address: of `s->rows[i]` the
/// array in the structure.
Reach Execution::reachOf(const Instruction& instruction, const Place& place) {
  const auto bytes = std::int64_t(state.layout.getTypeStoreSize(instruction.getType()).getFixedValue());
  if (isConst(place.offset)) return {place.offset->value, place.offset->value + bytes};
  Reach reach; // anywhere
  const auto* load = dyn_cast<LoadInst>(&instruction);
  const auto* address = load ? dyn_cast<GEPOperator>(load->getPointerOperand()) : nullptr;
  if (!address) return reach;
  Expr base = value(address->getPointerOperand());
  const auto bases = state.objects.places(base);
  if (bases.size() != 1 || bases[0].object != place.object || !isConst(bases[0].offset)) return reach;
  std::int64_t at = bases[0].offset->value;
  const ArrayType* array = nullptr; // the first step may lead anywhere
  for (auto step = gep_type_begin(*address); step != gep_type_end(*address);
       array = dyn_cast<ArrayType>(step.getIndexedType()), ++step) {
    const auto* number = dyn_cast<ConstantInt>(step.getOperand());
    if (const StructType* structure = step.getStructTypeOrNull()) {
      at += std::int64_t(state.layout.getStructLayout(const_cast<StructType*>(structure))
                             ->getElementOffset(unsigned(number->getZExtValue())));
      continue;
    }
    const auto each = std::int64_t(step.getSequentialElementStride(state.layout).getFixedValue());
    if (number)
      at += number->getSExtValue() * each;
    else if (!array)
      return reach;
    else if (array->getNumElements() <= 1) // as long as its structure has been allocated
      return {at, reach.to};
    else
      return {at, at + std::int64_t(array->getNumElements()) * each};
  }
  return reach;
}

/// All that is read at places of which some may be the same, with this one.
KernelState::PointerFamily KernelState::familyOf(unsigned table, Reach reach) const {
  PointerFamily family{reach, 1};
  std::set<Reach> others;
  for (const auto* places : {&pointerPlaces, &knownPointerPlaces})
    if (const auto found = places->find(table); found != places->end())
      others.insert(found->second.begin(), found->second.end());
  others.erase(reach);
  for (bool grows = true; grows;) {
    const std::size_t left = others.size();
    std::erase_if(others, [&](const Reach& other) {
      if (!other.meets(family.reach)) return false;
      family.reach = {std::min(family.reach.from, other.from), std::max(family.reach.to, other.to)};
      ++family.places;
      return true;
    });
    grows = others.size() != left;
  }
  return family;
}

/// Whether no other place is read that may be this one.
bool Execution::isAlone(const Instruction& instruction, const Place& place) {
  const Reach reach = reachOf(instruction, place);
  state.pointerPlaces[place.object].insert(reach);
  return isConst(place.offset) && state.familyOf(place.object, reach).places == 1;
}

static bool isInitialised(const GlobalVariable& variable) {
  return variable.hasInitializer() && !isa<UndefValue>(variable.getInitializer()) &&
         !variable.getInitializer()->isNullValue();
}

/// `s->rows`, or `s+8` where nothing says what lies there.
std::string KernelState::memberAt(unsigned object, std::int64_t byte) {
  const auto& fields = model.fields[object];
  const auto found = fields.find(byte);
  return found != fields.end() && found->second.isPointer ? found->second.name
                                                          : objects[object].name + "+" + std::to_string(byte);
}

/// A pointer read from memory points into an object of its own: whatever the pointers stored there lead to.
Expr Execution::pointerFrom(const Instruction& instruction, const Place& place) {
  const MemoryObject object = state.objects[place.object];
  state.pointerSources.insert(place.object);
  const auto variable = state.globals.find(place.object);
  const bool isChanged = variable != state.globals.end() &&
                         (state.prepared.writtenVariables.count(wholeName(*variable->second)) != 0 ||
                          isInitialised(*variable->second)); // with too much to tell apart
  if (object.space == MemorySpace::Local || object.isUnknown || isChanged ||
      state.changedPointerSources.count(place.object)) {
    // Wherever it leads: in shared memory, what stays there leads all threads of the block to one place.
    Expr found = object.space == MemorySpace::Shared
                     ? loadFrom(instruction, place)
                     : fresh(&instruction, "pointer", "a pointer (" + state.lineText(instruction) + ")",
                             {{}, "a pointer read from memory at " + state.lineText(instruction)});
    return exprs.add(state.objects.pointerTo(state.objects.unknown()), found);
  }
  const bool fixed = isAlone(instruction, place);
  const Reach family = state.familyOf(place.object, reachOf(instruction, place)).reach;
  if (state.knowsWritten && !state.knowsPointersAt(place.object, reachOf(instruction, place)))
    state.gap(&instruction, "where the pointers in `" + object.name + "` lead is not followed");
  MemoryObject target;
  const std::string where = fixed ? std::to_string(place.offset->value) : "[]";
  target.name = fixed ? state.memberAt(place.object, place.offset->value) : object.name + where;
  const std::string first = fixed || family == Reach() ? "" : std::to_string(family.from);
  unsigned id = state.objects.object("through " + std::to_string(place.object) + " " + where + first, target);
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

bool KernelState::knowsPointersAt(unsigned table, Reach reach) const {
  const auto known = knownPointerPlaces.find(table);
  return known != knownPointerPlaces.end() && std::ranges::any_of(known->second, [&](const Reach& other) {
           return other.from <= reach.from && reach.to <= other.to;
         });
}

} // namespace kcheck::analyzer
