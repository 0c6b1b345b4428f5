// Blocks that count themselves in, and one that goes on before the last of them has: what a thread does
// before its block is counted is not ordered before what the one does that finds a smaller number. That the
// counter starts at 0 is for the host to see to.
#include "analyzer/decide/draws.h"
#include "analyzer/decide/question.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {

/// Whether what is found is one more each time, from a counter at a fixed place of global memory.
bool countsUp(const Draw& draw, const KernelModel& model, ExprContext& c) {
  const AtomicUpdate& update = draw.update;
  if (model.objects[update.object].space != MemorySpace::Global || !update.offset) return false;
  if (draw.ticket)
    return !update.isFromStart && !draw.ticket->function->isRoom && draw.ticket->function->keys == 0;
  if (!isConst(update.offset)) return false;
  Expr next = c.add(update.found, c.constant(update.found->width, 1)), left = update.left;
  return left == next || (left->op == Op::Ite && isConst(left->operands[1], 0) && left->operands[2] == next);
}

/// Whether the thread goes on where it has found one number, which is the kernel's to say and not the host's.
bool waitsForOneNumber(const ModelAccess& access, Expr found) {
  auto isFound = [&](Expr n) { return n == found; };
  if (anyNode(access.offset, isFound)) return false;
  bool isOne = false;
  for (Expr part : conjunctsOf(access.condition)) {
    if (!anyNode(part, isFound)) continue;
    isOne = isOne || part->op == Op::Eq;
    const bool isOfHost = anyNode(part, [&](Expr n) {
      return (n->op == Op::Symbol && n != found &&
              (n->symbol->kind == SymbolKind::Parameter || n->symbol->kind == SymbolKind::Unknown)) ||
             (n->op == Op::Apply && n != found);
    });
    if (isOfHost) return false;
  }
  return isOne;
}

/// The one operation by which threads are counted, where nothing but setting it back is done to the counter.
const ModelAccess* arrivalAt(const KernelModel& model, unsigned counter) {
  const ModelAccess* arrival = nullptr;
  for (const Phase& phase : model.blockPhases)
    for (const ModelAccess& access : phase.accesses) {
      if (access.object != counter || access.kind == AccessKind::Read) continue;
      const bool setsBack = access.kind == AccessKind::Write && access.stored && isConst(access.stored, 0);
      if (setsBack) continue;
      if (arrival || access.kind != AccessKind::Atomic) return nullptr;
      arrival = &access;
    }
  return arrival;
}

} // namespace

std::optional<Verdict> Decider::meetBeforeLast(const PairQuestion& q, std::vector<Cause>& leansOn) {
  const KernelModel& model = kernel.model;
  ExprContext& c = kernel.context;
  if (q.relation != Relation::DifferentBlocks || !q.a->offset || !q.b->offset || model.gridPhases.size() > 1)
    return {};
  const Draws first = drawsOf(*q.a, model, c), second = drawsOf(*q.b, model, c);
  const bool isFirst = second.all.empty();
  const Draws& draws = isFirst ? first : second;
  if (first.all.empty() == isFirst || draws.all.size() != 1 || !draws.isKnown || draws.waits) return {};
  const Draw& draw = draws.all.front();
  for (const ModelAccess* access : {q.a, q.b})
    for (Expr e : {access->offset, access->condition})
      for (const Cause& cause : causesOf(e))
        if (mayOrder(cause) && std::ranges::find(draw.causes, cause) == draw.causes.end()) return {};
  const Expr found = draw.ticket ? draw.ticket : draw.update.found;
  if (!countsUp(draw, model, c) || !waitsForOneNumber(isFirst ? *q.a : *q.b, found)) return {};
  const ModelAccess* arrival = arrivalAt(model, draw.update.object);
  const auto many = arrival ? comers(*arrival, true) : std::nullopt;
  if (!many || *many == 0) return {};
  // Those of the other thread's block need not have come.
  Expr others = c.constant(64, 1);
  for (Expr extent : model.gridDim)
    if (extent) others = c.mul(others, c.extend(Op::ZExt, 64, extent));
  others = c.mul(c.sub(others, c.constant(64, 1)), c.constant(64, std::int64_t(*many)));
  Expr number = copies.of(c.extend(Op::ZExt, 64, found), q.relation, isFirst ? 1 : 2);
  std::vector<Expr> constraints = meetingConstraints(q);
  constraints.insert(constraints.begin(), c.binary(Op::Ult, number, others));
  ++counters.questions;
  Verdict verdict = solve(std::move(constraints), q.relation);
  if (verdict.outcome != Verdict::Outcome::Happens) return {};
  std::erase_if(leansOn, mayOrder);
  leansOn.push_back(
      {CauseKind::Approximation, "the order in which blocks come to " + placeOf(draw.causes.front())});
  return verdict;
}

} // namespace kcheck::analyzer
