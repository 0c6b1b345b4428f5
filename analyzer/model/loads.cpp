// What a load yields. The content of an object that the kernel never writes is a function of the address, one
// for all threads. What the kernel writes itself is a function of the address and the barrier interval as
// long as nobody writes it in that interval: in a kernel without races every thread of the block then reads
// the same content, and the first race of a kernel that has one comes after such reads. Everything else is
// unknown, for each thread anew.
#include "analyzer/model/execution.h"
#include "report/assumptions.h"

#include "analyzer/expr/range.h"

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/GlobalVariable.h"

#include <bit>
#include <cassert>

using namespace llvm;

namespace kcheck::analyzer {

Update additionOf(Expr addend, Expr condition) {
  if (!isConst(addend)) {
    Ranges ranges(Ranges::Wrapping::Exact);
    return ranges.assume(condition) && ranges.of(addend).lo >= 0 ? Update{Update::Kind::Room, 0} : Update{};
  }
  const bool counts = isConst(addend) && (addend->value > 0 || addend->value == -1);
  return counts ? Update{Update::Kind::Add, addend->value} : Update{};
}

Update roundOf(Expr bound, bool isDown) {
  if (!isConst(bound)) return {};
  const std::uint64_t last = zeroExtend(bound->value, bound->width);
  if (last == 0) return {};
  return {Update::Kind::Round, isDown ? -std::int64_t(last) : std::int64_t(last)};
}

/// The counters of the loops around `block` whose iterations all threads run together: with the site they
/// name the barrier interval.
std::vector<Expr> Execution::barrierCounters(const BasicBlock* block) {
  std::vector<Expr> counters;
  for (const Loop* loop = state.loopInfo.getLoopFor(block); loop; loop = loop->getParentLoop()) {
    if (!state.barrierLoops.count(loop)) continue;
    auto known = iterations.find(loop);
    assert(known != iterations.end() && "a block runs within its loops");
    counters.push_back(known->second);
  }
  return counters;
}

Expr Execution::loadFrom(const Instruction& instruction, const Place& place) {
  MemoryObject& object = state.objects[place.object];
  unsigned width = widthOf(instruction.getType(), state.layout);
  std::string line = state.lineText(instruction);
  if (!state.knowsWritten)
    if (Expr total = countedAt(instruction, place)) return total; // from the run before
  if (object.space == MemorySpace::Local || object.isUnknown || !state.knowsWritten)
    return markIfSynchronizing(place.object,
                               fresh(&instruction, "load", "a value of " + object.name + " (" + line + ")",
                                     {{}, "the value of `" + object.name + "` read at " + line}));
  std::string key = std::to_string(place.object);
  if (!state.isWritten(place.object)) {
    auto* content = state.symbols.function(nullptr, "content " + key, object.name, width);
    state.model.contents[content] = place.object;
    if (state.launch.isOfProgram()) { // any content may be input of a kernel on its own, not of this one
      content->exact = false;
      content->cause = {CauseKind::Launch, "the content of `" + object.name + "` at the launch"};
    }
    Expr promised = promisedContent(place, content, width);
    return promised ? promised : exprs.apply(content, {place.offset});
  }
  if (Expr total = countedAt(instruction, place)) return total;
  bool synchronizes = state.synchronizingObjects.count(place.object) != 0;
  const Cause written{CauseKind::Content,
                      "the content of `" + object.name + "`, which the kernel writes, at " + line};
  const Cause cause = synchronizes
                          ? Cause{CauseKind::Order, "the result of the atomic operation that reaches `" +
                                                        object.name + "` at " + line}
                          : written;
  if (stops && state.cut != Cut::Grid && isAsBefore(instruction, place.object)) {
    std::string role = "phase " + std::to_string(id.run) + " " + key;
    auto* content = state.symbols.function(nullptr, role, object.name + " before", width);
    state.model.contents[content] = place.object;
    content->varies = Varies::ByBlock;
    content->isKept = true;
    const bool fromHost = start == nullptr && object.space == MemorySpace::Global && !synchronizes;
    content->exact = fromHost && !state.launch.isOfProgram(); // as what is only read, above
    // Where an atomic operation says what is there, that was before the barrier: no two accesses behind it
    // are ordered by that.
    content->cause =
        fromHost ? Cause{CauseKind::Launch, "the content of `" + object.name + "` at the launch"} : written;
    if (start && object.space == MemorySpace::Shared) noteOwnStore(content, place.object, start, {});
    return exprs.apply(content, {place.offset});
  }
  const bool sameForGrid = object.space == MemorySpace::Global && !state.unstableInGrid.count(&instruction);
  const bool sameForBlock = state.cut >= Cut::Block && !state.unstable.count(&instruction) &&
                            (object.space == MemorySpace::Shared || !mayHaveWaited(instruction));
  if (state.cut >= Cut::Grid && (sameForGrid || sameForBlock)) {
    std::vector<Expr> operands = barrierCounters(instruction.getParent());
    // All loads of one interval find the same.
    const BasicBlock* barrier =
        object.space == MemorySpace::Shared && !sameForGrid ? barrierBefore(instruction) : nullptr;
    const void* since = barrier ? static_cast<const void*>(barrier) : &instruction;
    auto* content = state.symbols.function(since, "stable " + key, object.name + "@" + line, width);
    if (barrier && !stops) noteOwnStore(content, place.object, barrier, operands);
    operands.push_back(place.offset);
    state.model.contents[content] = place.object;
    content->varies = sameForGrid ? Varies::Never : Varies::ByBlock;
    content->isKept = true;
    content->exact = false;
    content->cause = cause;
    return markIfSynchronizing(place.object, exprs.apply(content, std::move(operands)));
  }
  Expr found = fresh(&instruction, "load", "a value of " + object.name + " (" + line + ")", cause);
  state.model.readAt[found->symbol].push_back({place.object, place.offset});
  return markIfSynchronizing(place.object, found);
}

Expr Execution::markIfSynchronizing(unsigned object, Expr content) {
  if (!state.synchronizingObjects.count(object)) return content;
  if (content->op == Op::Symbol)
    state.synchronizing.insert(content->symbol);
  else
    state.synchronizingFunctions.insert(content->function);
  return content;
}

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
  constexpr std::uint64_t kMostEntries = 32;
  if (!isConst(place.offset) && size / step > kMostEntries) return nullptr;
  Expr content = nullptr;
  for (std::uint64_t at = 0; at + step <= size; at += step) {
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
      state.changedPointerSources.count(place.object))
    return exprs.add(state.objects.pointerTo(state.objects.unknown()),
                     fresh(&instruction, "pointer", "a pointer (" + state.lineText(instruction) + ")",
                           {{}, "a pointer read from memory at " + state.lineText(instruction)}));
  MemoryObject target;
  bool fixed = isConst(place.offset);
  std::string where = fixed ? std::to_string(place.offset->value) : "[]";
  target.name = object.name + (fixed ? "+" + where : where);
  unsigned id = state.objects.object("through " + std::to_string(place.object) + " " + where, target);
  state.assume("memory reached through the pointers in `" + object.name + "` " + kReachedApart);
  Expr base = state.objects.pointerTo(id);
  if (fixed) return base;
  // Each leads to an array of its own: as if these lay far apart, nobody knows where exactly.
  state.assume("each of the pointers in `" + object.name + "` leads to an array that " + kReachedApart);
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

Expr Execution::load(const Instruction& instruction, Expr pointer, bool isVolatile) {
  std::string line = state.lineText(instruction);
  if (isVolatile) {
    Expr result = fresh(&instruction, "volatile", "a volatile value (" + line + ")",
                        {isOnlyWaitedFor(instruction) ? CauseKind::Wait : CauseKind::Order,
                         "the volatile value read at " + line});
    state.synchronizing.insert(result->symbol);
    if (!instruction.getType()->isPointerTy()) {
      const auto places = state.objects.places(pointer);
      if (places.size() == 1 && !state.objects[places[0].object].isUnknown)
        state.model.updates[result->symbol] = {places[0].object,
                                               places[0].offset,
                                               result,
                                               result,
                                               nullptr,
                                               state.numberOf(instruction),
                                               1,
                                               true};
      return result;
    }
    return exprs.add(state.objects.pointerTo(state.objects.unknown()), result);
  }
  if (Expr content = handedOn(instruction)) return content;
  Expr result = nullptr;
  for (const Place& place : state.objects.places(pointer)) {
    Expr content = initialContent(instruction, place);
    if (!content) content = passedContent(instruction, place);
    if (!content)
      content = instruction.getType()->isPointerTy() ? pointerFrom(instruction, place)
                                                     : loadFrom(instruction, place);
    result = result ? exprs.ite(place.guard, content, result) : content;
  }
  return result
             ? result
             : fresh(&instruction, "load", "a value (" + line + ")", {{}, "a load through a null pointer"});
}

/// What tells this execution of the instruction from all others: its number, for each place that a helper is
/// inlined at has its own, the thread, and the rounds of the loops around it. Nothing where loops nest too
/// deep.
std::optional<std::vector<Expr>> Execution::identity(const Instruction& instruction, bool withinBlock) {
  std::vector<Expr> operands{exprs.constant(32, state.numberOf(instruction))};
  for (int axis = 0; axis < 3; ++axis) {
    operands.push_back(state.model.threadIdx[axis]);
    if (!withinBlock) operands.push_back(state.model.blockIdx[axis]);
  }
  std::vector<Expr> counters(4, exprs.constant(32, 0));
  unsigned depth = 0;
  for (const Loop* loop = state.loopInfo.getLoopFor(instruction.getParent()); loop;
       loop = loop->getParentLoop()) {
    if (depth == counters.size()) return {};
    auto round = iterations.find(loop);
    counters[depth++] = round != iterations.end()
                            ? round->second
                            : exprs.of(local(loop->getHeader()->front(), "round", "round", 32));
  }
  operands.insert(operands.end(), counters.begin(), counters.end());
  return operands;
}

/// What atomicAdd(p, step) returns: a ticket that no other thread gets, provided that every write to the
/// object, at least until the next barrier, is such an addition and the counter does not wrap. Of counters at
/// computed places (one per bin), a ticket that no other thread gets there. Null when it is not known to be
/// one.
Expr Execution::ticket(const Instruction& instruction, Expr pointer, const Update& update, Expr size) {
  const bool goesRound = update.kind == Update::Kind::Round; // atomicInc, atomicDec
  const std::int64_t step = update.kind == Update::Kind::Add ? update.value : goesRound ? 1 : 0;
  unsigned width = widthOf(instruction.getType(), state.layout);
  auto places = state.objects.places(pointer);
  if (width < 32 || !state.knowsWritten || places.size() != 1) return nullptr;
  const Place& place = places[0];
  const bool isFixed = isConst(place.offset);
  if (!isFixed && step != 1 && step != -1 && update.kind != Update::Kind::Room) return nullptr;
  const BasicBlock* interval = state.intervalOf(place.object, update, instruction.getParent());
  if (!interval) return nullptr;
  bool isShared = state.objects[place.object].space == MemorySpace::Shared;
  auto operands = identity(instruction, isShared);
  if (!operands) return nullptr;
  if (update.kind == Update::Kind::Room) return roomFor(instruction, place, interval, size, *operands);
  if (!isFixed) operands->insert(operands->begin(), place.offset);
  std::string role = "ticket " + std::to_string(place.object) + " " +
                     (isFixed ? std::to_string(place.offset->value) : "of " + std::to_string(width));
  // Small enough that an index added to it does not wrap either.
  const std::uint64_t distance = step < 0 ? 1 : std::uint64_t(step);
  const unsigned bits = width - 2 - unsigned(std::bit_width(distance - 1));
  if (bits < 16 || bits > width) return nullptr;
  auto* number = state.symbols.function(interval, role, "ticket", bits);
  number->varies = isShared ? Varies::ByBlock : Varies::Never;
  number->injective = true;
  number->keys = isFixed ? 0 : 1;
  state.model.draws[number] = {
      place.object, isFixed ? place.offset : nullptr, {}, {}, {}, 0, update.value < 0 ? -1 : 1};
  number->exact = false;
  number->cause = {CauseKind::Order, "the result of the atomic operation at " + state.lineText(instruction)};
  state.assumedStarts[place.object] = {&instruction, place.offset};
  const std::string counter = std::string(kCounter) + (isFixed ? " that " : "s that ");
  const std::string stays = isFixed ? "stays" : "stay", starts = isFixed ? "starts" : "start";
  constexpr std::int64_t kFar = 1 << 16;
  const std::int64_t last = std::abs(update.value);
  if (goesRound && last < kFar)
    state.assume(counter + "the atomic operation at " + state.lineText(instruction) + " advances " + starts +
                 " from 0 to " + std::to_string(last));
  else if (goesRound)
    state.assume(counter + "the atomic operation at " + state.lineText(instruction) + " advances " +
                 (isFixed ? "does" : "do") + " not go round");
  else if (step < 0)
    state.assume(counter + "atomicSub lowers at " + state.lineText(instruction) + " " + stays +
                 " from 0 to 2^" + std::to_string(width - 2));
  else
    state.assume(counter + "atomicAdd advances at " + state.lineText(instruction) + " " + starts +
                 " at 0 or above and " + stays + " below 2^" + std::to_string(width - 2));
  Expr taken = exprs.extend(Op::ZExt, width, exprs.apply(number, std::move(*operands)));
  if (goesRound && last < kFar) return exprs.binary(Op::URem, taken, exprs.constant(width, last + 1));
  if (distance == 1) return taken;
  auto* first = state.symbols.get(number, "first", {0, 0}, "first ticket", width, SymbolKind::Unknown);
  first->varies = number->varies;
  first->lo = 0;
  first->hi = (Int(1) << (width - 3)) - 1;
  return exprs.add(exprs.of(first), exprs.mul(taken, exprs.constant(width, step), NoSignedWrap),
                   NoSignedWrap);
}

/// What atomicAdd(p, size) returns, with a size of each thread's own: room that no other thread gets, at a
/// computed place no other thread that comes to the same.
Expr Execution::roomFor(const Instruction& instruction, const Place& place, const BasicBlock* interval,
                        Expr size, std::vector<Expr> operands) {
  const bool isShared = state.objects[place.object].space == MemorySpace::Shared;
  const unsigned width = size->width;
  const bool isFixed = isConst(place.offset);
  if (!isFixed) operands.insert(operands.begin(), place.offset);
  operands.push_back(size);
  std::string role = "room " + std::to_string(place.object) + " " +
                     (isFixed ? std::to_string(place.offset->value) : "of " + std::to_string(width));
  auto* room = state.symbols.function(interval, role, "room", width - 2);
  room->varies = isShared ? Varies::ByBlock : Varies::Never;
  room->isRoom = true;
  room->keys = isFixed ? 0 : 1;
  state.model.draws[room] = {place.object, isFixed ? place.offset : nullptr};
  room->exact = false;
  room->cause = {CauseKind::Order, "the result of the atomic operation at " + state.lineText(instruction)};
  state.assumedStarts[place.object] = {&instruction, place.offset};
  state.assume(std::string(kCounter) + (isFixed ? "" : "s") + " that atomicAdd advances at " +
               state.lineText(instruction) +
               (isFixed ? " starts at 0 or above and stays" : " start at 0 or above and stay") + " below 2^" +
               std::to_string(width - 2));
  return exprs.extend(Op::ZExt, width, exprs.apply(room, std::move(operands)));
}

} // namespace kcheck::analyzer
