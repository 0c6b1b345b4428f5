// Where the solver gives up: the offsets of many threads side by side, until two of them touch a common byte.
#include "analyzer/decide/question.h"

#include "analyzer/clock.h"

#include <algorithm>
#include <array>

namespace kcheck::analyzer {

namespace {

constexpr std::size_t kMostThreads = 4096, kMostCounters = 4;
constexpr double kMostSeconds = 1.5; ///< for a kernel

using Index = std::array<Int, 3>;

/// One thread in one round of its loops.
struct Place {
  Index thread{}, block{};
  std::array<Int, kMostCounters> rounds{};
};

std::vector<const Symbol*> symbolsOf(const std::vector<Expr>& roots) {
  std::vector<const Symbol*> result;
  std::unordered_set<Expr> seen;
  for (Expr root : roots)
    bottomUp(
        root, [&](Expr n) { return seen.count(n) != 0; },
        [&](Expr n) {
          seen.insert(n);
          if (n->op == Op::Symbol) result.push_back(n->symbol);
        });
  std::sort(result.begin(), result.end(), [](auto* x, auto* y) { return x->id < y->id; });
  return result;
}

/// What symbols are tried with: the sizes of one try, and the place of a thread.
class Values {
public:
  Values(const KernelModel& model, const std::vector<const Symbol*>& symbols) {
    for (int i = 0; i < 3; ++i) {
      blockDim[i] = extentOf(model.blockDim[i], i == 0 ? 32 : i == 1 ? 4 : 1);
      gridDim[i] = extentOf(model.gridDim[i], 2);
    }
    for (const Symbol* s : symbols) {
      if (s->kind == SymbolKind::LoopCounter && counters.size() < kMostCounters) counters.push_back(s);
      if (s->kind == SymbolKind::Parameter) parameters.push_back(s);
    }
  }

  std::int64_t of(const Symbol& s, const Place& place) const {
    auto clamped = [&](Int v) { return std::int64_t(std::clamp(v, s.lo, s.hi)); };
    switch (s.kind) {
    case SymbolKind::ThreadIdx: return clamped(place.thread[s.axis]);
    case SymbolKind::BlockIdx: return clamped(place.block[s.axis]);
    case SymbolKind::BlockDim: return clamped(blockDim[s.axis]);
    case SymbolKind::GridDim: return clamped(gridDim[s.axis]);
    case SymbolKind::LoopCounter: {
      auto at = std::find(counters.begin(), counters.end(), &s);
      return clamped(at == counters.end() ? 0 : place.rounds[std::size_t(at - counters.begin())]);
    }
    case SymbolKind::Parameter: {
      const auto at = std::size_t(std::find(parameters.begin(), parameters.end(), &s) - parameters.begin());
      const Int v = sizes[at % sizes.size()];
      const Range bounds = at < parameters.size() ? parameterBounds[at] : Range{s.lo, s.hi};
      return s.width == 1 ? std::int64_t(v & 1) : std::int64_t(std::clamp(v, bounds.lo, bounds.hi));
    }
    default: return s.width == 1 ? 1 : clamped(0);
    }
  }

  /// The threads to look at: of one block, or of the first few.
  std::vector<Place> places(Relation relation) const {
    const bool isOneBlock = relation != Relation::DifferentBlocks;
    std::vector<Place> result;
    auto most = [&](Int count, Int limit) { return std::min(count, limit); };
    const Index blocks =
        isOneBlock ? Index{1, 1, 1} : Index{most(gridDim[0], 4), most(gridDim[1], 2), most(gridDim[2], 2)};
    for (const auto& rounds : roundsToTry())
      for (Int bz = 0; bz < blocks[2]; ++bz)
        for (Int by = 0; by < blocks[1]; ++by)
          for (Int bx = 0; bx < blocks[0]; ++bx)
            for (Int z = 0; z < blockDim[2]; ++z)
              for (Int y = 0; y < blockDim[1]; ++y)
                for (Int x = 0; x < blockDim[0]; ++x) {
                  if (result.size() == kMostThreads) return result;
                  result.push_back({{x, y, z}, {bx, by, bz}, rounds});
                }
    return result;
  }

  std::array<Int, 4> sizes{};
  Index blockDim{}, gridDim{};
  std::vector<const Symbol*> counters, parameters;
  std::vector<Int> lastRounds;        ///< of the counters
  std::vector<Range> parameterBounds; ///< as the access's condition says

private:
  using Rounds = std::array<Int, kMostCounters>;

  /// The first rounds of each loop, and its last one where that is known.
  std::vector<Rounds> roundsToTry() const {
    constexpr Int kFew = 64;
    std::vector<Rounds> result{Rounds{}};
    for (std::size_t i = 0; i < counters.size(); ++i) {
      std::vector<Int> values{0, 1};
      if (counters.size() == 1) values = {0, 1, 2, 3};
      if (counters.size() < 3 && lastRounds[i] > values.back() && lastRounds[i] < kFew)
        values.push_back(lastRounds[i]);
      const std::size_t before = result.size();
      for (std::size_t v = 1; v < values.size(); ++v)
        for (std::size_t r = 0; r < before; ++r) {
          result.push_back(result[r]);
          result.back()[i] = values[v];
        }
    }
    return result;
  }

  static Int extentOf(Expr e, Int otherwise) { return !e ? 1 : isConst(e) ? Int(e->value) : otherwise; }
};

/// Where a thread's access lies, if it gets there.
std::optional<std::int64_t> offsetAt(const ModelAccess& access, const std::vector<const Symbol*>& symbols,
                                     const Values& values, const Place& place) {
  Assignment assignment;
  for (const Symbol* s : symbols) assignment.symbols[s] = values.of(*s, place);
  Evaluator evaluate(assignment);
  const Value gets = evaluate(access.condition);
  if (gets.value != 1 || gets.undefined) return {};
  const Value at = evaluate(access.offset);
  if (at.undefined) return {};
  return at.value;
}

} // namespace

std::optional<Assignment> Decider::searchCollision(const PairQuestion& q,
                                                   const std::vector<Expr>& constraints) {
  constexpr std::int64_t kWidest = 16;
  if (limits.proofOnly || !q.a->offset || !q.b->offset || !isConst(q.a->size) || !isConst(q.b->size))
    return {};
  const std::int64_t size1 = q.a->size->value, size2 = q.b->size->value;
  if (size1 < 1 || size1 > kWidest || size2 < 1 || size2 > kWidest) return {};
  const double begun = threadSeconds();
  const auto all = symbolsOf(constraints), own1 = symbolsOf({q.a->condition, q.a->offset}),
             own2 = symbolsOf({q.b->condition, q.b->offset});
  Values values(kernel.model, symbolsOf({q.a->condition, q.a->offset, q.b->condition, q.b->offset}));
  Ranges& ranges = viewOf(*q.a, Ranges::Wrapping::Exact).ranges;
  for (const Symbol* counter : values.counters)
    values.lastRounds.push_back(ranges.of(kernel.context.of(counter)).hi);
  for (const Symbol* parameter : values.parameters) {
    const Range known = ranges.of(kernel.context.of(parameter));
    values.parameterBounds.push_back(known.isEmpty() ? Range{parameter->lo, parameter->hi} : known);
  }
  const std::vector<Place> places = values.places(q.relation);
  const Int row = values.blockDim[0];
  std::vector<std::array<Int, 4>> sizes{{1024, 1024, 1024, 1024}};
  if (!values.parameters.empty())
    sizes = {{1024, 1024, 1024, 1024},
             {2, 16, 3, 5},
             {row, 1024, row, 1024},
             {3, 5, 2, 2},
             {16, 2, 5, 3},
             {64, 64, 64, 64},
             {1, 1, 1, 1},
             {0, 0, 0, 0},
             {7, 100, 2, 33},
             {1, 1024, 1024, 1024}};
  std::optional<Assignment> result;
  auto check = [&](const Place& first, const Place& second) {
    Assignment found;
    for (const Symbol* s : all)
      found.symbols[s] = values.of(*copies.original(s), copies.threadOf(s) == 2 ? second : first);
    if (!satisfies(found, constraints)) return false;
    result = std::move(found);
    return true;
  };
  auto isOver = [&] { return collisionSeconds + threadSeconds() - begun > kMostSeconds; };
  for (auto& chosen : sizes) {
    values.sizes = chosen;
    std::unordered_map<std::int64_t, std::vector<const Place*>> byOffset;
    for (const Place& place : places)
      if (auto at = offsetAt(*q.a, own1, values, place)) byOffset[*at].push_back(&place);
    constexpr std::size_t kMostTries = 200;
    std::size_t tries = 0;
    for (const Place& place : places) {
      if (byOffset.empty() || isOver() || tries > kMostTries) break;
      const auto at = offsetAt(*q.b, own2, values, place);
      if (!at) continue;
      for (std::int64_t o = *at - size1 + 1; o < *at + size2 && !result; ++o) {
        auto others = byOffset.find(o);
        if (others == byOffset.end()) continue;
        for (const Place* other : others->second)
          if ((other->thread != place.thread || other->block != place.block) &&
              (++tries > kMostTries || check(*other, place)))
            break;
      }
      if (result) break;
    }
    if (result || isOver()) break;
  }
  collisionSeconds += threadSeconds() - begun;
  return result;
}

} // namespace kcheck::analyzer
