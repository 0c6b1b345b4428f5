// What one thread does for all: it stores in shared memory what its block reads behind a barrier, and it
// counts its block in among those that have come so far (broadcasts.h, arrivals.h). What both rest on is
// looked at in handing_on.cpp, once per kernel.
#include "analyzer/model/execution.h"
#include "report/assumptions.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

Expr KernelState::linearThread() {
  Expr yz = exprs.add(model.threadIdx[1], exprs.mul(model.blockDim[1], model.threadIdx[2], NoSignedWrap),
                      NoSignedWrap);
  return exprs.add(model.threadIdx[0], exprs.mul(model.blockDim[0], yz, NoSignedWrap), NoSignedWrap);
}

/// Whether both stand for one number: the program may not have said of each part that it does not wrap.
static bool isSameNumber(Expr a, Expr b) {
  if (a == b) return true;
  if (a->op != b->op || a->width != b->width || a->value != b->value || a->symbol != b->symbol ||
      a->function != b->function || a->operands.size() != b->operands.size())
    return false;
  return std::ranges::equal(a->operands, b->operands, isSameNumber) ||
         (a->operands.size() == 2 && (a->op == Op::Add || a->op == Op::Mul) &&
          isSameNumber(a->operands[0], b->operands[1]) && isSameNumber(a->operands[1], b->operands[0]));
}

Expr KernelState::inOneRow(Expr sum) {
  const Expr thread = linearThread();
  return isSameNumber(sum, thread) ? thread : sum;
}

std::optional<ThreadPlace> KernelState::onlyThread(Expr condition) {
  ThreadPlace place{};
  bool known[3] = {isConst(model.threadIdx[0]), isConst(model.threadIdx[1]), isConst(model.threadIdx[2])};
  Expr linear = linearThread();
  for (Expr part : conjunctsOf(condition)) {
    if (part->op != Op::Eq || !isConst(part->operands[1])) continue;
    const std::int64_t value = part->operands[1]->value;
    for (unsigned axis = 0; axis < 3; ++axis)
      if (part->operands[0] == model.threadIdx[axis]) {
        place[axis] = value;
        known[axis] = true;
      }
    if (part->operands[0] == linear && value == 0) return ThreadPlace{};
  }
  return known[0] && known[1] && known[2] ? std::optional(place) : std::nullopt;
}

Expr KernelState::isThread(const ThreadPlace& place) {
  Expr result = exprs.boolean(true);
  for (unsigned axis = 0; axis < 3; ++axis)
    if (!isConst(model.threadIdx[axis]))
      result = exprs.logicalAnd(result, exprs.eq(model.threadIdx[axis], exprs.constant(32, place[axis])));
  return result;
}

bool KernelState::hasThread(const ThreadPlace& place) {
  for (unsigned axis = 0; axis < 3; ++axis)
    if (place[axis] != 0 && !isConst(model.threadIdx[axis]) &&
        (place[axis] < 0 || !isConst(model.blockDim[axis]) || place[axis] >= model.blockDim[axis]->value))
      return false;
  return true;
}

/// What an atomic operation has given that thread gets a name of the block's, where that happens once.
Expr KernelState::asThread(const ThreadPlace& place, const Instruction& store, Expr e) {
  Substitution indices(exprs), results(exprs);
  for (unsigned axis = 0; axis < 3; ++axis)
    if (!isConst(model.threadIdx[axis])) indices.set(model.threadIdx[axis], exprs.constant(32, place[axis]));
  Expr own = indices(e);
  if (loopInfo.getLoopFor(store.getParent())) return own;
  const std::string who = place == ThreadPlace{}
                              ? "the first thread"
                              : "thread (" + std::to_string(place[0]) + "," + std::to_string(place[1]) + "," +
                                    std::to_string(place[2]) + ")";
  std::vector<std::pair<const Symbol*, Symbol*>> named;
  anyNode(own, [&](Expr n) {
    if (n->op != Op::Symbol || n->symbol->varies != Varies::ByThread || !model.updates.count(n->symbol) ||
        n->symbol->cause.kind != CauseKind::Order)
      return false;
    Symbol* symbol = symbols.get(n->symbol, "that thread's", {}, n->symbol->name + " of " + who, n->width,
                                 n->symbol->kind);
    symbol->lo = n->symbol->lo;
    symbol->hi = n->symbol->hi;
    symbol->varies = Varies::ByBlock;
    symbol->exact = false;
    symbol->cause = n->symbol->cause;
    if (synchronizing.count(n->symbol)) synchronizing.insert(symbol);
    results.set(n, exprs.of(symbol));
    named.emplace_back(n->symbol, symbol);
    return false;
  });
  for (const auto& [original, symbol] : named) {
    AtomicUpdate update = model.updates.at(original);
    for (Expr* part : {&update.offset, &update.found, &update.left, &update.differs})
      if (*part) *part = results(indices(*part));
    model.updates[symbol] = update;
  }
  for (std::size_t i = 0, count = drawn.size(); i < count; ++i) {
    const DrawnTicket ticket{results(indices(drawn[i].ticket)), drawn[i].last, drawn[i].isLast};
    auto isKnown = [&](const DrawnTicket& one) { return one.ticket == ticket.ticket; };
    if (std::none_of(drawn.begin(), drawn.end(), isKnown)) drawn.push_back(ticket);
  }
  return results(own);
}

Expr KernelState::isLastBlock(const Instruction& arrival) {
  const RowAxes row = arriving.at(&arrival).row;
  std::vector<Expr> ofRow;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (isApart(row, axis)) ofRow.push_back(model.blockIdx[axis]);
  const Cause cause{CauseKind::Approximation, "which block draws the last ticket at " + lineText(arrival)};
  const std::string name = "the last block (" + lineText(arrival) + ")";
  Expr result = exprs.boolean(true);
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (isConst(model.blockIdx[axis]) || isApart(row, axis)) continue;
    const std::string role = "last block " + std::to_string(axis);
    Expr last = nullptr;
    if (ofRow.empty()) {
      Symbol* symbol = symbols.get(&arrival, role, {}, name, 32, SymbolKind::Unknown);
      symbol->varies = Varies::Never;
      symbol->exact = false;
      symbol->cause = cause;
      last = exprs.of(symbol);
    } else {
      Function* function = symbols.function(&arrival, role, name, 32);
      function->exact = false;
      function->cause = cause;
      last = exprs.apply(function, ofRow);
    }
    result = exprs.logicalAnd(result, exprs.eq(model.blockIdx[axis], last));
  }
  return result;
}

Expr KernelState::blocksArriving(const Instruction& arrival) {
  Expr blocks = exprs.constant(32, 1);
  for (unsigned axis = 0; axis < 3; ++axis)
    if (!isApart(arriving.at(&arrival).row, axis)) blocks = exprs.mul(blocks, model.gridDim[axis]);
  return blocks;
}

/// What one thread of the block has stored for all, where this load reads such a thing.
Expr Execution::handedOn(const Instruction& load) {
  const auto thread = state.handedOn.find(&load);
  if (thread == state.handedOn.end()) return nullptr;
  // A run from a barrier begins behind the store, or ends before the load.
  const bool isEarlier = before && (stops && state.cut >= Cut::Block);
  const Instruction* store = state.broadcasts.all().at(&load);
  const auto& own = isEarlier ? before->handed : handed;
  auto found = own.find(store);
  if (found == own.end()) {
    if (!before || isEarlier) return nullptr;
    found = before->handed.find(store);
    if (found == before->handed.end()) return nullptr;
  }
  if (state.objects.isPointer(found->second)) // a local of another thread's is not this one's
    for (const Place& place : state.objects.places(found->second))
      if (state.objects[place.object].space == MemorySpace::Local) return nullptr;
  return state.asThread(thread->second, *store, found->second);
}

/// Notes the ticket of an arrival. The last is drawn once at most, as no more blocks come than there are.
void Execution::drawTicket(const Instruction& atomic) {
  if (!state.arriving.count(&atomic)) return;
  Expr ticket = env[&atomic];
  Expr last = exprs.add(state.blocksArriving(atomic), exprs.constant(32, -1));
  if (ticket->width > 32) last = exprs.extend(Op::ZExt, ticket->width, last);
  state.drawn.push_back({ticket, last, state.isLastBlock(atomic)});
  for (const auto& access : accesses)
    if (access.instruction == &atomic)
      assumeFromZero(atomic, {nullptr, access.access.object, access.access.offset});
}

void Execution::assumeFromZero(const Instruction& arrival, const Place& counter) {
  state.assumedStarts[counter.object] = {&arrival, counter.offset, true};
  state.assume(std::string(kCounter) + " at " + state.lineText(arrival) + " is 0 when the kernel starts");
}

/// Where `a` equals `b` just if a ticket is the last one: that.
Expr Execution::saysIsLast(Expr a, Expr b) {
  for (const auto& drawn : state.drawn) {
    if (a->width != drawn.ticket->width || state.objects.isPointer(a) || state.objects.isPointer(b)) continue;
    Expr ahead = exprs.sub(drawn.ticket, drawn.last), difference = exprs.sub(a, b);
    if (difference == ahead || isConst(exprs.sub(difference, ahead), 0) ||
        isConst(exprs.add(difference, ahead), 0))
      return drawn.isLast;
  }
  return nullptr;
}

/// What the access is to each of the kernel's arrivals.
std::vector<ArrivalPlace> Execution::arrivalsAt(const Instruction& instruction, Expr condition) {
  std::vector<ArrivalPlace> result;
  for (auto& [arrival, known] : state.arriving) {
    const ThreadPlace& thread = known.thread;
    const auto number = unsigned(std::distance(state.arriving.begin(), state.arriving.find(arrival)));
    if (arrival == &instruction) {
      result.push_back({ArrivalPlace::Side::Before, number});
      continue;
    }
    const Surroundings& around = state.around(*arrival, kDeviceReach);
    Expr isLast = state.isLastBlock(*arrival);
    std::vector<Expr> have = conjunctsOf(condition), wanted = conjunctsOf(isLast);
    const bool isAfter = !isTrue(isLast) && std::all_of(wanted.begin(), wanted.end(), [&](Expr part) {
      return std::find(have.begin(), have.end(), part) != have.end();
    });
    if (const auto hasFence = hasSeenAll(instruction, *arrival)) {
      result.push_back({ArrivalPlace::Side::After, number});
      result.back().hasFence = *hasFence;
      continue;
    }
    if (isAfter) {
      const bool isFenced = around.isPartedBehind(instruction);
      result.push_back({isFenced ? ArrivalPlace::Side::After : ArrivalPlace::Side::Unclear, number});
      result.back().hasFence = around.isOrderedBehind(instruction);
      continue;
    }
    const SignalSide side = around.sideOf(instruction);
    if (side == SignalSide::InThread && state.onlyThread(condition) != thread) {
      result.push_back({.side = ArrivalPlace::Side::OfThread,
                        .counter = number,
                        .isOther = exprs.logicalNot(state.isThread(thread))});
      continue;
    }
    if (side == SignalSide::Carried) {
      result.push_back({ArrivalPlace::Side::Before, number});
      result.back().needsFence = true;
    } else if (side == SignalSide::InThread || side == SignalSide::InBlock)
      result.push_back({ArrivalPlace::Side::Before, number});
    else if (side == SignalSide::Unclear)
      result.push_back({ArrivalPlace::Side::Unclear, number});
  }
  for (ArrivalPlace& place : result) place.row = std::next(state.arriving.begin(), place.counter)->second.row;
  return result;
}

} // namespace kcheck::analyzer
