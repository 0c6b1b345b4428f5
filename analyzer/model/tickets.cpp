// What threads draw from a counter: tickets, by additions of one number, and room, by additions of what each
// needs. No two threads get the same.
#include "analyzer/model/execution.h"

#include "analyzer/expr/range.h"
#include "report/assumptions.h"

#include <bit>

using namespace llvm;

namespace kcheck::analyzer {

/// Whether it is never negative where `condition` holds.
static bool isAmount(Expr addend, Expr condition) {
  Ranges ranges(Ranges::Wrapping::Exact);
  return !ranges.assume(condition) || ranges.of(addend).lo >= 0;
}

/// Whether a choice in it may come to a constant below zero.
static bool choosesBelowZero(Expr addend) {
  if (isConst(addend)) return addend->value < 0;
  if (addend->op == Op::SExt) return choosesBelowZero(addend->operands[0]);
  return addend->op == Op::Ite &&
         (choosesBelowZero(addend->operands[1]) || choosesBelowZero(addend->operands[2]));
}

Update additionOf(Expr addend, Expr condition) {
  if (!isConst(addend)) {
    if (isAmount(addend, condition)) return {Update::Kind::Room, 0};
    if (choosesBelowZero(addend)) return {}; // `x > 0 ? 1 : -1`
    return {Update::Kind::Room, Update::kTakenForAmount};
  }
  const bool counts = addend->value > 0 || addend->value == -1;
  return counts ? Update{Update::Kind::Add, addend->value} : Update{};
}

Update roundOf(Expr bound, bool isDown) {
  if (!isConst(bound)) return {};
  const std::uint64_t last = zeroExtend(bound->value, bound->width);
  if (last == 0) return {};
  return {Update::Kind::Round, isDown ? -std::int64_t(last) : std::int64_t(last)};
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

/// What has been drawn below `e`, with any number in its place; null where nothing has been.
Expr Execution::undrawn(Expr e, std::string& counter) {
  Substitution any(exprs);
  anyNode(e, [&](Expr n) {
    if (n->op != Op::ZExt || n->operands[0]->op != Op::Apply) return false;
    const auto* drawn = n->operands[0]->function;
    if (!state.model.draws.count(drawn) || !(drawn->injective || drawn->isRoom)) return false;
    counter = drawn->cause.text;
    any.set(n, exprs.of(state.symbols.get(nullptr, "any number drawn", {}, "any number drawn", n->width,
                                          SymbolKind::Unknown)));
    return false;
  });
  return any.empty() ? nullptr : any(e);
}

/// Of what is always the same because of what is assumed of a counter alone: the program asks itself whether
/// that is so (`atomicAdd(n, 1) < 0`), and it may be otherwise.
Expr Execution::askedOfDrawn(const Instruction& instruction, Expr result) {
  const bool asks = isa<ICmpInst>(instruction) || isa<BinaryOperator>(instruction);
  if (!asks || !isConst(result) || state.model.draws.empty()) return result;
  std::vector<std::pair<const Value*, Expr>> drawn;
  std::vector<Expr> operands{exprs.constant(32, state.numberOf(instruction))};
  std::string counter;
  for (const Use& use : instruction.operands()) {
    operands.push_back(value(use));
    if (isa<Constant>(use)) continue;
    if (Expr any = undrawn(operands.back(), counter)) {
      drawn.emplace_back(use, operands.back());
      env[use] = any;
    }
  }
  const bool isAlways = drawn.empty() || isConst(this->result(instruction));
  for (const auto& [operand, known] : drawn) env[operand] = known;
  if (isAlways) return result;
  auto* asked =
      state.symbols.function(nullptr, "asked of a number drawn", "asked of a ticket", result->width);
  asked->exact = false;
  asked->cause = {CauseKind::Launch, "numbers beyond what is assumed of a counter: " + counter};
  return exprs.apply(asked, std::move(operands));
}

/// A counter that goes round this far away goes on like one that does not.
static constexpr std::int64_t kFar = 1 << 16;

/// Where a counter goes round.
static std::int64_t lastOf(const Update& round) { return std::abs(round.value); }

/// That the counter starts where tickets of it can be told apart, and does not wrap.
void Execution::assumeTicketsStart(const Instruction& instruction, const Update& update, bool isFixed,
                                   unsigned width) {
  const std::string line = state.lineText(instruction), most = "2^" + std::to_string(width - 2);
  const std::string counter = std::string(kCounter) + (isFixed ? " that " : "s that ");
  const std::string stays = isFixed ? "stays" : "stay", starts = isFixed ? "starts" : "start";
  const bool goesRound = update.kind == Update::Kind::Round;
  if (goesRound && lastOf(update) < kFar)
    state.assume(counter + "the atomic operation at " + line + " advances " + starts + " from 0 to " +
                 std::to_string(lastOf(update)));
  else if (goesRound)
    state.assume(counter + "the atomic operation at " + line + " advances " + (isFixed ? "does" : "do") +
                 " not go round");
  else if (update.value < 0)
    state.assume(counter + "atomicSub lowers at " + line + " " + starts + " from 0 to " + most + " and " +
                 (isFixed ? "is" : "are") + " not lowered more often than that");
  else
    state.assume(counter + "atomicAdd advances at " + line + " " + starts + " at 0 or above and " + stays +
                 " below " + most);
}

/// What atomicAdd(p, step) returns: a ticket that no other thread gets, provided that every write to the
/// object, at least until the next barrier, is such an addition and the counter does not wrap. Of counters at
/// computed places (one per bin), a ticket that no other thread gets there. Null when it is not known to be
/// one.
Expr Execution::ticket(const Instruction& instruction, Expr pointer, const Update& update, Expr size,
                       Expr condition) {
  const bool goesRound = update.kind == Update::Kind::Round; // atomicInc, atomicDec
  const std::int64_t step = update.kind == Update::Kind::Add ? update.value : goesRound ? 1 : 0;
  unsigned width = widthOf(instruction.getType(), state.layout);
  auto places = state.objects.places(pointer);
  if (width < 32 || !state.knowsWritten || places.size() != 1) return nullptr;
  const Place& place = places[0];
  const bool isFixed = isConst(place.offset);
  const bool takesRoom =
      update.kind == Update::Kind::Room ||
      (update.drawsUp() && std::ranges::any_of(state.updates[place.object], [&](const auto& other) {
         return other.first != update && other.first.drawsUp(); // threads need unlike much
       }));
  if (!isFixed && step != 1 && step != -1 && !takesRoom) return nullptr;
  const auto repeated = state.repeatedIntervalOf(place.object, update, instruction.getParent());
  const BasicBlock* interval = repeated.start;
  if (!interval || (!repeated.loops.empty() && (step != 1 || takesRoom))) return nullptr;
  const std::vector<Expr> rounds = roundNumbers(repeated.loops);
  if (rounds.size() != repeated.loops.size()) return nullptr;
  bool isShared = state.objects[place.object].space == MemorySpace::Shared;
  auto operands = identity(instruction, isShared);
  if (!operands) return nullptr;
  if (takesRoom) {
    Expr room = update.kind == Update::Kind::Room ? size : exprs.constant(width, update.value);
    return roomFor(instruction, place, interval, room, *operands, condition);
  }
  operands->insert(operands->begin(), rounds.begin(), rounds.end()); // in another round it is another counter
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
  number->keys = unsigned(rounds.size()) + (isFixed ? 0 : 1);
  state.model.draws[number] = {place.object, isFixed ? place.offset : nullptr};
  state.model.draws[number].isFromStart = step != 1;
  number->exact = false;
  number->cause = {CauseKind::Order, "the result of the atomic operation at " + state.lineText(instruction)};
  state.assumedStarts[place.object] = {&instruction, place.offset};
  assumeTicketsStart(instruction, update, isFixed, width);
  Expr taken = exprs.extend(Op::ZExt, width, exprs.apply(number, std::move(*operands)));
  if (goesRound && lastOf(update) < kFar)
    return exprs.binary(Op::URem, taken, exprs.constant(width, lastOf(update) + 1));
  if (step == 1) {
    if (isFixed && isShared && rounds.empty())
      state.sharedTickets[number] = {place.object, drawsOfThread(place.object, update), number};
    if (!isShared && update.kind == Update::Kind::Add)
      boundDraws(instruction, place, update, taken, condition);
    return taken;
  }
  auto* first = state.symbols.get(number, "first", {0, 0}, "first ticket", width, SymbolKind::Unknown);
  first->varies = number->varies;
  first->lo = 0;
  first->hi = (Int(1) << (width - 3)) - 1;
  if (!isFixed) { // of each counter
    first->exact = false;
    first->cause = {CauseKind::Content, "where the counters at " + state.lineText(instruction) + " start"};
  }
  state.firstTickets[first] = {
      place.object, isFixed && isShared ? drawsOfThread(place.object, update) : std::nullopt, number};
  return exprs.add(exprs.of(first), exprs.mul(taken, exprs.constant(width, step), NoSignedWrap),
                   NoSignedWrap);
}

/// What atomicAdd(p, size) returns, with a size of each thread's own: room that no other thread gets, at a
/// computed place no other thread that comes to the same.
Expr Execution::roomFor(const Instruction& instruction, const Place& place, const BasicBlock* interval,
                        Expr size, std::vector<Expr> operands, Expr condition) {
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
  Expr first = exprs.extend(Op::ZExt, width, exprs.apply(room, std::move(operands)));
  const bool addsUp = std::ranges::all_of(state.updates[place.object],
                                          [](const auto& update) { return update.first.isSurelyUp(); });
  if (!addsUp) assumeAddsUp(instruction, first, size, condition);
  return first;
}

/// That nothing is taken back from a counter where room is drawn, by whichever of its additions: those that
/// nobody looks at the result of count as well.
void Execution::assumeAddsUp(const Instruction& instruction, Expr drawn, Expr size, Expr condition) {
  if (!isAmount(size, condition))
    state.drawnWithin[drawn] = exprs.logicalOr(exprs.logicalNot(condition),
                                               exprs.binary(Op::Sle, exprs.constant(size->width, 0), size));
  state.assume("what atomicAdd adds to the counter of " + state.lineText(instruction) + " is not negative");
}

} // namespace kcheck::analyzer
