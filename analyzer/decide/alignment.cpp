// Whether accesses are at multiples of what their type asks for. Elsewhere an access is an error of its own,
// which ends the kernel: two of them are taken to meet only where both are at such places, unless the kernel
// itself leads them elsewhere.
#include "analyzer/decide/question.h"

#include <algorithm>
#include <bit>

namespace kcheck::analyzer {

bool isMultiple(const Poly& offset, std::int64_t bytes) {
  return offset.valid &&
         std::ranges::all_of(offset.terms, [&](const auto& term) { return term.second % bytes == 0; });
}

/// Of what the access's type asks for, what its place surely keeps to by how it is computed.
unsigned alignByPlace(AccessView& view, unsigned asked) {
  if (asked == 1) return 1;
  const std::uint64_t bits = view.ranges.of(view.offset).maybe;
  const unsigned zeros = bits ? unsigned(std::countr_zero(bits)) : 63;
  unsigned align = asked;
  while (align > 1 && (zeros >= 63 || (std::uint64_t(1) << zeros) < align) && bits &&
         !isMultiple(view.offsetPoly, align))
    align /= 2;
  return align;
}

/// A size or number that the launch brings along, or what is in memory: nobody starts the kernel with such
/// that do not fit.
static bool isBrought(Expr n) {
  if (n->op == Op::Apply) return true;
  if (n->op != Op::Symbol) return false;
  switch (n->symbol->kind) {
  case SymbolKind::ThreadIdx:
  case SymbolKind::BlockIdx:
  case SymbolKind::LoopCounter: return false;
  default: return true;
  }
}

/// Whether the launch may decide about where in a unit of so many bytes the place is.
static bool hangsOnLaunch(const Poly& offset, Expr whole, unsigned align) {
  const auto follows = [](Expr e) { return anyNode(e, isBrought); };
  if (!offset.valid) return follows(whole);
  return std::ranges::any_of(offset.terms, [&](const auto& term) {
    return term.second % align != 0 &&
           std::ranges::any_of(term.first, [&](const Atom& atom) { return follows(atom.node); });
  });
}

const Alignment& Decider::alignmentOf(const ModelAccess& access) {
  auto [entry, isNew] = alignments.try_emplace({access.offset, access.condition, access.align});
  Alignment& result = entry->second;
  if (!isNew) return result;
  AccessView& view = viewOf(access, Ranges::Wrapping::Exact);
  if (alignByPlace(view, access.align) == access.align || isFalse(access.condition)) return result;
  result.kind = Alignment::Kind::Open;
  if (hangsOnLaunch(view.offsetPoly, access.offset, access.align) || secondsLeft() <= 0) return result;
  ++counters.questions;
  ExprContext& c = kernel.context;
  const auto askWhere = [&](bool isAskew) {
    const Expr rest = c.binary(Op::And, access.offset, c.constant(64, access.align - 1));
    const Expr fits = c.eq(rest, c.constant(64, 0));
    std::vector<Expr> constraints{isAskew ? c.logicalNot(fits) : fits, access.condition};
    constraints.insert(constraints.end(), kernel.facts.begin(), kernel.facts.end());
    return solve(std::move(constraints), std::nullopt);
  };
  Verdict askew = askWhere(true);
  if (askew.outcome == Verdict::Outcome::Never) result.kind = Alignment::Kind::Kept;
  if (askew.outcome != Verdict::Outcome::Happens || !isExact(askew, {})) return result;
  // Of an array that begins anywhere, all places may fit that lie alike.
  const MemoryObject& object = kernel.model.objects[access.object];
  const bool beginsThere = object.space == MemorySpace::Global && object.bytes && object.isPlaced;
  if (!beginsThere && askWhere(false).outcome != Verdict::Outcome::Happens) return result;
  result.kind = Alignment::Kind::Broken;
  result.askew = std::move(askew);
  return result;
}

} // namespace kcheck::analyzer
