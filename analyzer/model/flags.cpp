#include "analyzer/model/flags.h"

#include "analyzer/expr/fold.h"
#include "analyzer/model/fences.h"
#include "analyzer/model/handing_on.h"
#include "report/assumptions.h"

#include <fmt/format.h>

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

bool mayBeSetUnseen(KernelState& state, unsigned object) {
  const MemoryObject& flag = state.objects[object];
  return flag.isUnknown || (flag.space != MemorySpace::Global && flag.space != MemorySpace::Shared) ||
         (state.isUnknownWritten() && (flag.space == MemorySpace::Global || flag.escapes));
}

std::optional<unsigned> onlyObject(KernelState& state, Expr pointer) {
  const auto places = state.objects.places(pointer);
  return places.size() == 1 ? std::optional(places[0].object) : std::nullopt;
}

/// The one access of the instruction in a run.
const ModelAccess* onlyAccess(const Execution& run, const Instruction& instruction) {
  const ModelAccess* only = nullptr;
  for (const RunAccess& access : run.accesses) {
    if (access.instruction != &instruction) continue;
    if (only) return nullptr;
    only = &access.access;
  }
  return only;
}

unsigned reachFor(KernelState& state, unsigned object) {
  return state.objects[object].space == MemorySpace::Shared ? kBlockReach : kDeviceReach;
}

/// Who may come to set a flag, whatever he waits for before. As no two of these may set it at one place, he
/// whose place has been set is the one who has come.
Expr asFarAsKnown(ExprContext& exprs, Expr condition) {
  Expr known = exprs.boolean(true);
  for (Expr part : conjunctsOf(condition))
    if (causesOf(part).empty()) known = exprs.logicalAnd(known, part);
  return known;
}

Expr atIndices(KernelState& state, const ThreadPlace& thread, const Instruction& by, Expr e) {
  Expr own = state.asThread(thread, by, e);
  return variesOf(own) == Varies::ByThread ? nullptr : own;
}

} // namespace

std::map<unsigned, std::vector<FlagStore>> findFlags(KernelState& state, Execution& run) {
  std::set<unsigned> candidates;
  for (const Sighting& sighting : state.sightings.all())
    if (run.conditions.count(sighting.look->getParent()))
      if (const auto object = onlyObject(state, run.value(sighting.pointer));
          object && !mayBeSetUnseen(state, *object))
        candidates.insert(*object);
  std::map<unsigned, std::vector<FlagStore>> flags;
  for (const RunAccess& access : run.accesses) {
    const ModelAccess& a = access.access;
    if (!candidates.count(a.object) || !a.stores() || lookedAt(*access.instruction)) continue;
    const bool isPlain = isConst(a.size) && !state.loopInfo.getLoopFor(access.instruction->getParent()) &&
                         onlyAccess(run, *access.instruction);
    if (!isPlain) {
      candidates.erase(a.object);
      flags.erase(a.object);
      continue;
    }
    FlagStore store{access.instruction, {}};
    if (a.stored && isConst(a.stored)) store.value = a.stored->value;
    flags[a.object].push_back(store);
  }
  return flags;
}

std::map<const Instruction*, OneThread> findCommonLooks(KernelState& state, const Execution& run) {
  std::map<const Instruction*, OneThread> result;
  for (const Sighting& sighting : state.sightings.all()) {
    if (!sighting.waits) continue;
    const BasicBlock* from = sighting.waits->getLoopPreheader();
    if (const auto one = oneComesTo(state, run, *from))
      result[sighting.look] = {one->thread, one->parting, isTrue(one->condition)};
  }
  return result;
}

void addFlags(KernelState& state, const Execution& whole) {
  for (const auto& [object, stores] : state.flags) {
    FlagArray& flag = state.model.flags[object];
    for (const FlagStore& store : stores) {
      FlagSetter& setter = flag.setters.emplace_back();
      if (const ModelAccess* access = onlyAccess(whole, *store.store)) {
        setter.access = *access;
        setter.access.condition = asFarAsKnown(state.exprs, access->condition);
      } else { // it cannot be reached
        setter.access.condition = state.exprs.boolean(false);
      }
      const auto condition = whole.conditions.find(store.store->getParent());
      if (condition == whole.conditions.end() || !setter.access.offset) continue;
      const auto thread = state.onlyThread(condition->second);
      if (!thread || !state.hasThread(*thread)) continue;
      setter.placeOfBlock = atIndices(state, *thread, *store.store, setter.access.offset);
      setter.setsOfBlock = atIndices(state, *thread, *store.store, setter.access.condition);
    }
    const bool isZeroed = std::ranges::any_of(stores, [](const FlagStore& s) { return s.value == 0; });
    if (state.objects[object].space != MemorySpace::Shared)
      flag.assumption = fmt::format("{} `{}` is 0 when the kernel starts", kFlag, state.objects[object].name);
    else if (!isZeroed)
      state.model.flags.erase(object); // it may hold anything
  }
}

/// What a look before the access has found, by the thread itself or by the one that waits for its block.
struct Execution::Look {
  Place place;
  Expr found = nullptr;    ///< a symbol, of who has looked
  Expr taken = nullptr;    ///< width 1, in his words: that he has gone on as he has
  Expr isLooked = nullptr; ///< width 1: else nobody has looked
  const OneThread* common = nullptr;
  bool hasFence = false;

  /// `taken` if this is what it has found.
  Expr ifFound(ExprContext& exprs, Expr number) const {
    Substitution as(exprs);
    as.set(found, number);
    return as(taken);
  }
};

std::optional<Execution::Look> Execution::lookBefore(const Instruction& instruction,
                                                     const Sighting& sighting) {
  const BasicBlock* here = instruction.getParent();
  const auto known = state.commonLooks.find(sighting.look);
  const bool isOwn = state.sightings.isBehind(here, sighting);
  const bool isCommon = !isOwn && sighting.waits && known != state.commonLooks.end() &&
                        state.broadcasts.areParted(sighting.waits->getLoopPreheader(), sighting.target(),
                                                   known->second.parting, here);
  if (!isOwn && !isCommon) return {};
  Expr pointer = value(sighting.pointer);
  Look look;
  look.found = value(sighting.look);
  look.taken = value(sighting.branch->getCondition());
  if (sighting.way != 0) look.taken = exprs.logicalNot(look.taken);
  for (const Loop* loop = state.loopInfo.getLoopFor(sighting.look->getParent());
       loop && !loop->contains(here); loop = loop->getParentLoop()) {
    const auto last = left.find(loop); // of its rounds
    if (last == left.end() && !isInvariant(sighting.pointer, *loop)) return {};
    if (last != left.end())
      for (Expr* e : {&pointer, &look.found, &look.taken}) *e = last->second(*e);
  }
  const auto places = state.objects.places(pointer);
  if (places.size() != 1 || look.found->op != Op::Symbol) return {};
  look.place = places[0];
  const Surroundings& around = state.around(*sighting.look, reachFor(state, look.place.object));
  if (!around.isFencedBehind(instruction)) return {};
  look.hasFence = around.isOrderedBehind(instruction);
  look.isLooked = exprs.boolean(true);
  if (isCommon) {
    const auto one = oneComesTo(state, before ? *before : *this, *sighting.waits->getLoopPreheader());
    if (!one || one->parting != known->second.parting) return {};
    look.isLooked = one->condition;
    look.common = &known->second;
    look.place.offset = atIndices(state, known->second.thread, *sighting.look, look.place.offset);
  }
  return look.place.offset ? std::optional(look) : std::nullopt;
}

std::optional<FlagSeen> Execution::seenAt(const Instruction& instruction, const Sighting& sighting) {
  const auto look = lookBefore(instruction, sighting);
  const auto flag = look ? state.flags.find(look->place.object) : state.flags.end();
  if (flag == state.flags.end()) return {};
  const auto number = [&](std::int64_t n) { return exprs.constant(look->found->width, n); };
  if (!isFalse(look->ifFound(exprs, number(0)))) return {};
  FlagSeen seen{look->place.object, look->place.offset, {}, look->isLooked, look->hasFence};
  for (const FlagStore& store : flag->second) {
    Expr mayBe = store.value ? look->ifFound(exprs, number(*store.value)) : exprs.boolean(true);
    if (store.value && !look->common)
      mayBe = exprs.logicalAnd(mayBe, exprs.eq(look->found, number(*store.value)));
    if (look->common) mayBe = atIndices(state, look->common->thread, *sighting.look, mayBe);
    seen.mayBe.push_back(mayBe ? mayBe : exprs.boolean(true));
  }
  return seen;
}

/// Whether the thread knows by then that all blocks have counted themselves in; with whether it has fenced.
std::optional<bool> Execution::hasSeenAll(const Instruction& instruction, const Instruction& arrival) {
  Expr blocks = state.blocksArriving(arrival);
  for (const Sighting& sighting : state.sightings.all()) {
    const auto look = lookBefore(instruction, sighting);
    if (!look || look->found->width != 32 || !isTrue(look->isLooked)) continue;
    const auto counter = state.objects.places(value(arrival.getOperand(0)));
    if (counter.size() != 1 || counter[0].object != look->place.object ||
        counter[0].offset != look->place.offset)
      continue;
    const auto parts = conjunctsOf(look->taken);
    const Expr all[] = {exprs.eq(look->found, blocks),
                        exprs.eq(blocks, look->found),
                        exprs.binary(Op::Ule, blocks, look->found),
                        exprs.binary(Op::Sle, blocks, look->found),
                        exprs.logicalNot(exprs.binary(Op::Ult, look->found, blocks)),
                        exprs.logicalNot(exprs.binary(Op::Slt, look->found, blocks))};
    if (std::ranges::none_of(all, [&](Expr one) { return std::ranges::find(parts, one) != parts.end(); }))
      continue;
    assumeFromZero(arrival, look->place);
    return look->hasFence;
  }
  return {};
}

void Execution::noteFlags(const Instruction& instruction, ModelAccess& access) {
  if (!state.knowsWritten) return;
  for (const auto& [object, stores] : state.flags)
    for (unsigned setter = 0; setter < stores.size(); ++setter) {
      if (stores[setter].store == &instruction) continue;
      const SignalSide side =
          state.around(*stores[setter].store, reachFor(state, object)).sideOf(instruction);
      if (side == SignalSide::None || side == SignalSide::Unclear) continue;
      const bool isOfBlock = side != SignalSide::InThread;
      access.flagsAhead.push_back({object, setter, isOfBlock, side == SignalSide::Carried});
    }
  if (state.flags.empty()) return;
  for (const Sighting& sighting : state.sightings.all())
    if (auto seen = seenAt(instruction, sighting)) access.flagsSeen.push_back(std::move(*seen));
}

} // namespace kcheck::analyzer
