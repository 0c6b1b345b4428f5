#include "analyzer/model/unstable_loads.h"

#include "analyzer/expr/range.h"

#include "llvm/IR/CFG.h"

#include <algorithm>
#include <numeric>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr std::int64_t kMostValues = 64;

/// The symbols below both.
std::set<const Symbol*> symbolsOf(Expr a, Expr b) {
  std::set<const Symbol*> symbols;
  for (Expr e : {a, b})
    anyNode(e, [&](Expr n) {
      if (n->op == Op::Symbol) symbols.insert(n->symbol);
      return false;
    });
  return symbols;
}

/// Of an expression whose low bits hang on those of the counter alone.
bool keepsLowBits(Expr e, const Symbol* counter) {
  switch (e->op) {
  case Op::Const: return true;
  case Op::Symbol: return e->symbol == counter;
  case Op::Add:
  case Op::Mul:
  case Op::And:
  case Op::Or:
  case Op::Xor:
  case Op::ZExt:
  case Op::SExt:
  case Op::Trunc:
    return std::all_of(e->operands.begin(), e->operands.end(),
                       [&](Expr operand) { return keepsLowBits(operand, counter); });
  default: return false;
  }
}

/// The counter, or it and a constant, which does not run over: not below 0.
bool countsOn(Expr e, const Symbol* counter) {
  if (counter->lo < 0) return false;
  if (e->op == Op::Symbol) return e->symbol == counter;
  constexpr std::int64_t kMostAhead = 1 << 20;
  return e->op == Op::Add && e->operands.size() == 2 && (e->flags & NoSignedWrap) &&
         e->operands[0]->op == Op::Symbol && e->operands[0]->symbol == counter && isConst(e->operands[1]) &&
         e->operands[1]->value >= 0 && e->operands[1]->value <= kMostAhead;
}

/// After how many rounds the value of `e` comes again, which follows the counter alone; 0: that is not known.
std::int64_t periodOf(Expr e, const Symbol* counter) {
  constexpr std::int64_t kMostRest = 16;
  const bool hasConstant = e->operands.size() == 2 && isConst(e->operands[1]);
  if (e->op == Op::And && hasConstant && e->operands[1]->value > 0 && e->operands[1]->value < kMostRest &&
      keepsLowBits(e->operands[0], counter))
    return kMostRest;
  if (e->op == Op::Trunc && e->width == 1 && keepsLowBits(e->operands[0], counter)) return 2;
  if ((e->op == Op::URem || e->op == Op::SRem) && hasConstant && e->operands[1]->value > 0 &&
      e->operands[1]->value < kMostRest && countsOn(e->operands[0], counter))
    return e->operands[1]->value;
  if (e->op == Op::Symbol) return 0;
  std::int64_t period = 1;
  for (Expr operand : e->operands) {
    const std::int64_t own = periodOf(operand, counter);
    if (own == 0) return 0;
    period = std::lcm(period, own);
    if (period > kMostValues) return 0;
  }
  return period;
}

/// The same with sums and products that do not wrap in a wider type at once, where they can be subtracted.
Expr widened(ExprContext& exprs, Expr e) {
  if (e->width != 64 || e->operands.empty()) return e;
  const Expr inner = e->operands[0];
  const bool isSigned = e->op == Op::SExt;
  if (isSigned || e->op == Op::ZExt) {
    const bool isExact = inner->flags & (isSigned ? NoSignedWrap : NoUnsignedWrap);
    if (!isExact || (inner->op != Op::Add && inner->op != Op::Mul)) return e;
    auto wide = [&](Expr part) { return widened(exprs, exprs.extend(e->op, 64, part)); };
    Expr result = wide(inner->operands[0]);
    for (std::size_t i = 1; i < inner->operands.size(); ++i)
      result = inner->op == Op::Add ? exprs.add(result, wide(inner->operands[i]), NoSignedWrap)
                                    : exprs.mul(result, wide(inner->operands[i]), NoSignedWrap);
    return result;
  }
  if (e->op == Op::Add)
    return exprs.add(widened(exprs, e->operands[0]), widened(exprs, e->operands[1]), e->flags);
  if (e->op == Op::Mul && isConst(e->operands[1]))
    return exprs.mul(widened(exprs, e->operands[0]), e->operands[1], e->flags);
  return e;
}

/// Whether two places differ, whatever the one number that they follow is.
class Apart {
public:
  /// `changing`: the loops of whose rounds the two may be in different ones.
  Apart(const KernelState& state, const std::set<const Loop*>& changing) : state(state), changing(changing) {}

  bool operator()(const ModelAccess& a, const ModelAccess& b) const {
    if (!isConst(a.size) || !isConst(b.size)) return false;
    const auto symbols = symbolsOf(a.offset, b.offset);
    if (!std::all_of(symbols.begin(), symbols.end(), [&](const Symbol* s) { return isOfAll(*s); }))
      return false;
    if (differ(a, b, nullptr, 0)) return true;
    if (symbols.size() != 1) return false;
    const Symbol* counter = *symbols.begin();
    std::int64_t values = periodOf(state.exprs.sub(a.offset, b.offset), counter);
    if (counter->lo == 0 && counter->hi < kMostValues) values = std::int64_t(counter->hi) + 1;
    if (values == 0) return false;
    for (std::int64_t value = 0; value < values; ++value)
      if (!differ(a, b, counter, value)) return false;
    return true;
  }

private:
  /// Whether all threads of an interval have one value of it: a size, or the round that they are in together.
  bool isOfAll(const Symbol& symbol) const {
    if (symbol.kind == SymbolKind::Parameter || symbol.kind == SymbolKind::BlockDim ||
        symbol.kind == SymbolKind::GridDim)
      return true;
    const auto home = state.homes.find(&symbol);
    return symbol.kind == SymbolKind::LoopCounter && !symbol.isOutcome && home != state.homes.end() &&
           home->second.first && state.barrierLoops.count(home->second.first) &&
           !changing.count(home->second.first);
  }

  bool differ(const ModelAccess& a, const ModelAccess& b, const Symbol* counter, std::int64_t value) const {
    Substitution now(state.exprs);
    if (counter) now.set(state.exprs.of(counter), state.exprs.constant(counter->width, value));
    auto place = [&](Expr offset) { return widened(state.exprs, now(offset)); };
    const Range distance = Ranges().of(state.exprs.sub(place(a.offset), place(b.offset)));
    return distance.lo >= b.size->value || distance.hi <= -a.size->value;
  }

  const KernelState& state;
  const std::set<const Loop*>& changing;
};

/// The same access a round later, of the loop if there is one.
ModelAccess inNextRound(const KernelState& state, ModelAccess access, const Loop* loop) {
  if (!loop) return access;
  Substitution next(state.exprs);
  anyNode(access.offset, [&](Expr n) {
    if (n->op != Op::Symbol || n->symbol->kind != SymbolKind::LoopCounter || n->symbol->isOutcome)
      return false;
    const auto home = state.homes.find(n->symbol);
    if (home == state.homes.end() || home->second.first != loop) return false;
    next.set(n, state.exprs.add(n, state.exprs.constant(n->width, 1), NoSignedWrap));
    return false;
  });
  access.offset = next(access.offset);
  return access;
}

/// The blocks between a barrier and the next ones: those of the round that it is in, and those of the next
/// round of the loops that it is in.
class Interval {
public:
  Interval(const KernelState& state, const BasicBlock* start) : state(state), start(start) {
    const auto again = reach({start}, blocks[0]);
    for (const Edge& edge : again) cameRound.insert(edge.loop);
    std::vector<const BasicBlock*> heads;
    for (const Edge& edge : again)
      if (edge.to != start) heads.push_back(edge.to);
    for (const Edge& edge : reach(heads, blocks[1])) cameRoundTwice |= edge.to != start;
  }

  /// In which rounds accesses in two blocks are.
  struct Rounds {
    std::set<const Loop*> changing; ///< the loops of which nobody knows
    const Loop* later[2] = {};      ///< the loop of which the first or the second is in the next one
  };
  Rounds roundsOf(const BasicBlock* a, const BasicBlock* b) const {
    auto isIn = [&](unsigned part, const BasicBlock* block) { return blocks[part].count(block) != 0; };
    const bool aIsBefore = !isIn(1, a), bIsBefore = !isIn(1, b);
    if (aIsBefore && bIsBefore) return {};
    const bool areKnown =
        cameRound.size() == 1 && !cameRoundTwice && (aIsBefore || !isIn(0, a)) && (bIsBefore || !isIn(0, b));
    if (!areKnown) return {cameRound};
    if (aIsBefore) return {{}, {nullptr, *cameRound.begin()}};
    if (bIsBefore) return {{}, {*cameRound.begin(), nullptr}};
    return {};
  }

  template <typename Visit> void forEach(Visit visit) const {
    for (const BasicBlock* block : blocks[0]) visit(block);
    for (const BasicBlock* block : blocks[1])
      if (!blocks[0].count(block)) visit(block);
  }

private:
  struct Edge {
    const Loop* loop;
    const BasicBlock* to;
  };

  /// Up to the next barriers and rounds of loops with barriers. Returns the ways into these.
  std::vector<Edge> reach(std::vector<const BasicBlock*> todo, std::set<const BasicBlock*>& seen) const {
    std::vector<Edge> again;
    while (!todo.empty()) {
      const BasicBlock* block = todo.back();
      todo.pop_back();
      if ((block != start && state.barrierBlocks.count(block)) || !seen.insert(block).second) continue;
      for (const BasicBlock* next : successors(block)) {
        const Loop* loop = state.loopInfo.getLoopFor(next);
        if (loop && loop->getHeader() == next && loop->contains(block) && state.barrierLoops.count(loop))
          again.push_back({loop, next});
        else if (next != start || !state.barrierBlocks.count(start)) // else it closes its own interval
          todo.push_back(next);
      }
    }
    return again;
  }

  const KernelState& state;
  const BasicBlock* start;
  std::set<const BasicBlock*> blocks[2];
  std::set<const Loop*> cameRound;
  bool cameRoundTwice = false;
};

} // namespace

std::set<const Instruction*> findUnstable(KernelState& state, const Execution& run) {
  std::set<const Instruction*> unstable;
  std::map<const BasicBlock*, std::vector<const RunAccess*>> accessesOf;
  for (const RunAccess& access : run.accesses) accessesOf[access.instruction->getParent()].push_back(&access);
  std::vector<const BasicBlock*> starts(state.barrierBlocks.begin(), state.barrierBlocks.end());
  starts.push_back(&state.function.getEntryBlock());
  const unsigned unknown = state.objects.unknown();
  for (const BasicBlock* start : starts) {
    const Interval interval(state, start);
    std::vector<const RunAccess*> reads, writes;
    interval.forEach([&](const BasicBlock* block) {
      for (const RunAccess* access : accessesOf[block])
        (access->access.kind == AccessKind::Read ? reads : writes).push_back(access);
    });
    auto areApart = [&](const RunAccess& read, const RunAccess& write) {
      const auto rounds = interval.roundsOf(read.instruction->getParent(), write.instruction->getParent());
      return Apart(state, rounds.changing)(inNextRound(state, read.access, rounds.later[0]),
                                           inNextRound(state, write.access, rounds.later[1]));
    };
    for (const RunAccess* read : reads)
      for (const RunAccess* write : writes)
        if (write->access.object == unknown ||
            (write->access.object == read->access.object && !areApart(*read, *write))) {
          unstable.insert(read->instruction);
          break;
        }
  }
  return unstable;
}

} // namespace kcheck::analyzer
