// What a load yields. The content of an object that the kernel never writes is a function of the address, one
// for all threads. What the kernel writes itself is a function of the address and the barrier interval as
// long as nobody writes it in that interval: in a kernel without races every thread of the block then reads
// the same content, and the first race of a kernel that has one comes after such reads. Everything else is
// unknown, for each thread anew.
#include "analyzer/model/execution.h"

#include "llvm/IR/Instructions.h"

#include <cassert>

using namespace llvm;

namespace kcheck::analyzer {

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

Expr Execution::markIfSynchronizing(unsigned object, Expr content) {
  if (!state.synchronizingObjects.count(object)) return content;
  if (content->op == Op::Symbol)
    state.synchronizing.insert(content->symbol);
  else
    state.synchronizingFunctions.insert(content->function);
  return content;
}

/// Bytes of a wider read of the same place, as where a structure is copied and its members are read as well.
/// Null where there is none.
static Expr partOfWider(KernelState& state, const Place& place, unsigned width) {
  ExprContext& exprs = state.exprs;
  for (Expr wide : state.wideReads[place.object]) {
    if (wide->width <= width) continue;
    Expr behind = exprs.sub(place.offset, wide->operands[0]);
    if (!isConst(behind) || behind->value < 0 || behind->value * 8 + width > wide->width) continue;
    Expr bits = exprs.binary(Op::LShr, wide, exprs.constant(wide->width, behind->value * 8));
    return exprs.extend(Op::Trunc, width, bits);
  }
  return nullptr;
}

/// Of an object that the kernel does not write.
Expr Execution::unwrittenContent(const Place& place, unsigned width) {
  const MemoryObject& object = state.objects[place.object];
  auto* content =
      state.symbols.function(nullptr, "content " + std::to_string(place.object), object.name, width);
  state.model.contents[content] = place.object;
  if (state.launch.isOfProgram()) { // any content may be input of a kernel on its own, not of this one
    content->exact = false;
    content->cause = {CauseKind::Launch, "the content of `" + object.name + "` at the launch"};
  }
  if (Expr promised = promisedContent(place, content, width)) return promised;
  if (Expr part = partOfWider(state, place, width)) return part;
  Expr read = exprs.apply(content, {place.offset});
  constexpr std::size_t kMostKept = 32;
  std::vector<Expr>& wide = state.wideReads[place.object];
  if (width > 8 && wide.size() < kMostKept && std::ranges::find(wide, read) == wide.end())
    wide.push_back(read);
  return read;
}

/// Whether no thread can write there between the barriers around the load, whoever races for it before.
bool Execution::staysInBlock(const Instruction& load, const MemoryObject& object) const {
  return object.space == MemorySpace::Shared && state.cut == Cut::Block && !state.unstable.count(&load);
}

/// Of a vector that is read where nobody writes: the same as if its element had been read alone. Null where
/// it is another vector.
Expr Execution::elementOf(const ExtractElementInst& extract) {
  const auto* load = dyn_cast<LoadInst>(extract.getVectorOperand());
  const auto* index = dyn_cast<ConstantInt>(extract.getIndexOperand());
  const unsigned width = widthOf(extract.getType(), state.layout);
  if (!load || !index || !load->isSimple() || extract.getType()->isPointerTy() || width % 8 ||
      !state.knowsWritten ||
      state.loopInfo.getLoopFor(load->getParent()) != state.loopInfo.getLoopFor(extract.getParent()))
    return nullptr;
  const std::int64_t ahead = std::int64_t(index->getZExtValue()) * (width / 8);
  Expr result = nullptr;
  for (const Place& place : state.objects.places(value(load->getPointerOperand()))) {
    const MemoryObject& object = state.objects[place.object];
    if (object.space != MemorySpace::Global || object.isUnknown || state.isWritten(place.object) ||
        !isFalse(writtenAsOther(place.object)))
      return nullptr;
    Expr at = exprs.add(place.offset, exprs.constant(64, ahead), NoSignedWrap);
    Expr content = unwrittenContent({place.guard, place.object, at}, width);
    result = result ? exprs.ite(place.guard, content, result) : content;
  }
  return result;
}

/// Of an object that nobody has written since the run began.
Expr Execution::contentBefore(const Instruction& instruction, const Place& place, unsigned width,
                              const Cause& written) {
  const MemoryObject& object = state.objects[place.object];
  const bool synchronizes = state.synchronizingObjects.count(place.object) != 0;
  std::string role = "phase " + std::to_string(id.run) + " " + std::to_string(place.object);
  auto* content = state.symbols.function(nullptr, role, object.name + " before", width);
  state.model.contents[content] = place.object;
  content->varies = Varies::ByBlock;
  content->isKept = !staysInBlock(instruction, object);
  const bool fromHost = start == nullptr && object.space == MemorySpace::Global && !synchronizes;
  content->exact = fromHost && !state.launch.isOfProgram(); // as what is only read, above
  // Where an atomic operation says what is there, that was before the barrier: no two accesses behind it
  // are ordered by that.
  content->cause =
      fromHost ? Cause{CauseKind::Launch, "the content of `" + object.name + "` at the launch"} : written;
  if (start && object.space == MemorySpace::Shared) {
    if (Expr own = ownStored(place, width, start)) return own;
    noteOwnStore(content, place.object, start, {});
  }
  return exprs.apply(content, {place.offset});
}

/// Of an object that nobody writes between the barriers around the load.
Expr Execution::stableContent(const Instruction& instruction, const Place& place, bool sameForGrid,
                              const Cause& cause) {
  const MemoryObject& object = state.objects[place.object];
  std::vector<Expr> operands = barrierCounters(instruction.getParent());
  // All loads of one interval find the same.
  const BasicBlock* barrier =
      object.space == MemorySpace::Shared && !sameForGrid ? barrierBefore(instruction) : nullptr;
  const void* since = barrier ? static_cast<const void*>(barrier) : &instruction;
  auto* content = state.symbols.function(since, "stable " + std::to_string(place.object),
                                         object.name + "@" + state.lineText(instruction),
                                         widthOf(instruction.getType(), state.layout));
  if (barrier && !stops) {
    if (Expr own = ownStored(place, widthOf(instruction.getType(), state.layout), barrier)) return own;
    noteOwnStore(content, place.object, barrier, operands);
  }
  operands.push_back(place.offset);
  state.model.contents[content] = place.object;
  content->varies = sameForGrid ? Varies::Never : Varies::ByBlock;
  content->isKept = !sameForGrid && !staysInBlock(instruction, object);
  content->exact = false;
  content->cause = cause;
  return markIfSynchronizing(place.object, exprs.apply(content, std::move(operands)));
}

/// Width 1: that it is one with an array that the kernel writes, as the kernel itself holds possible.
Expr Execution::writtenAsOther(unsigned object) {
  Expr result = exprs.boolean(false);
  for (const OneArray& one : state.model.mayBeOne)
    if ((one.first == object && state.isWritten(one.second)) ||
        (one.second == object && state.isWritten(one.first)))
      result = exprs.logicalOr(result, one.isOne);
  return result;
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
  if (!state.isWritten(place.object)) {
    Expr content = unwrittenContent(place, width), isOther = writtenAsOther(place.object);
    if (isFalse(isOther)) return content;
    return exprs.ite(isOther,
                     fresh(&instruction, "load", "a value of " + object.name + " (" + line + ")",
                           {CauseKind::Content, "the content of `" + object.name + "`, which may be " +
                                                    "an array that the kernel writes, at " + line}),
                     content);
  }
  if (Expr total = countedAt(instruction, place)) return total;
  const Cause written{CauseKind::Content,
                      "the content of `" + object.name + "`, which the kernel writes, at " + line};
  if (stops && state.cut != Cut::Grid && isAsBefore(instruction, place.object))
    return contentBefore(instruction, place, width, written);
  const Cause cause = state.synchronizingObjects.count(place.object) != 0
                          ? Cause{CauseKind::Order, "the result of the atomic operation that reaches `" +
                                                        object.name + "` at " + line}
                          : written;
  const bool sameForGrid = object.space == MemorySpace::Global && !state.unstableInGrid.count(&instruction);
  const bool sameForBlock = state.cut >= Cut::Block && !state.unstable.count(&instruction) &&
                            (object.space == MemorySpace::Shared || !mayHaveWaited(instruction));
  if (state.cut >= Cut::Grid && (sameForGrid || sameForBlock))
    return stableContent(instruction, place, sameForGrid, cause);
  Expr found = fresh(&instruction, "load", "a value of " + object.name + " (" + line + ")", cause);
  state.model.readAt[found->symbol].push_back({place.object, place.offset});
  if (mayFindFirst(instruction, place.object)) state.model.foundAtLaunch.insert(found->symbol);
  return markIfSynchronizing(place.object, found);
}

/// Whatever other threads have stored by then: it may order threads.
Expr Execution::volatileValue(const Instruction& instruction, Expr pointer) {
  const std::string line = state.lineText(instruction), kind = instruction.isAtomic() ? "atomic" : "volatile";
  const std::string article = instruction.isAtomic() ? "an " : "a ";
  Expr result = fresh(&instruction, "volatile", article + kind + " value (" + line + ")",
                      {isOnlyWaitedFor(instruction) ? CauseKind::Wait : CauseKind::Order,
                       "the " + kind + " value read at " + line});
  state.synchronizing.insert(result->symbol);
  if (state.takesLock(instruction, pointer)) state.lockResults.insert(result->symbol);
  if (instruction.getType()->isPointerTy())
    return exprs.add(state.objects.pointerTo(state.objects.unknown()), result);
  const auto places = state.objects.places(pointer);
  if (places.size() == 1 && !state.objects[places[0].object].isUnknown) {
    AtomicUpdate read{places[0].object, places[0].offset, result, result};
    read.number = state.numberOf(instruction);
    read.isLook = true;
    state.model.updates[result->symbol] = read;
  }
  return result;
}

Expr Execution::load(const Instruction& instruction, Expr pointer, Expr condition, bool isVolatile) {
  if (isVolatile) return volatileValue(instruction, pointer);
  if (Expr content = handedOn(instruction)) return content;
  if (Expr content = storedByLane(instruction, pointer, condition)) return content;
  Expr result = nullptr;
  for (const Place& place : state.objects.places(pointer)) {
    Expr content = initialContent(instruction, place);
    if (!content) content = passedContent(instruction, place);
    if (!content)
      content = instruction.getType()->isPointerTy() ? pointerFrom(instruction, place)
                                                     : loadFrom(instruction, place);
    result = result ? exprs.ite(place.guard, content, result) : content;
  }
  return result ? result
                : fresh(&instruction, "load", "a value (" + state.lineText(instruction) + ")",
                        {{}, "a load through a null pointer"});
}

} // namespace kcheck::analyzer
