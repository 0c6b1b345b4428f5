// The candidates and their order.
#include "analyzer/decide/search.h"

#include "analyzer/expr/fold.h"
#include "analyzer/expr/range.h"

#include <algorithm>
#include <array>

namespace kcheck::analyzer {

namespace {

using Index = std::array<Int, 3>;

/// One try. Indices of -1 mean the last one of the axis.
struct Candidate {
  Index thread[2], block[2];
  Index blockDim, gridDim;
  Int counter[2];
  bool truth;                    ///< of conditions about which nothing is known
  std::array<Int, 4> parameters; ///< of the first, second, ... symbol, cyclically
};

struct Suspects {
  std::vector<std::pair<Index, Index>> threads, blocks;
};

Suspects suspectsOf(std::optional<Relation> relation) {
  const Index none{0, 0, 0};
  if (!relation) { // both threads of a pair are the one in question; overruns happen at the end
    std::vector<std::pair<Index, Index>> one;
    for (const Index& i :
         {Index{-1, 0, 0}, none, Index{1, 0, 0}, Index{0, -1, 0}, Index{-1, -1, 0}, Index{-1, -1, -1}})
      one.emplace_back(i, i);
    return {one, one};
  }
  std::vector<std::pair<Index, Index>> pairs = {
      {none, {1, 0, 0}},        {none, {0, 1, 0}},      {none, {0, 0, 1}},      {none, {32, 0, 0}},
      {{1, 0, 0}, none},        {{0, 1, 0}, none},      {{1, 0, 0}, {2, 0, 0}}, {none, {2, 0, 0}},
      {none, {4, 0, 0}},        {none, {8, 0, 0}},      {none, {16, 0, 0}},     {none, {64, 0, 0}},
      {{31, 0, 0}, {32, 0, 0}}, {{-1, 0, 0}, none},     {none, {-1, 0, 0}},     {none, {0, -1, 0}},
      {{32, 0, 0}, none},       {{1, 0, 0}, {0, 1, 0}}, {{0, 1, 0}, {1, 0, 0}}, {{2, 0, 0}, {0, 1, 0}},
      {{0, 1, 0}, {2, 0, 0}},   {{3, 0, 0}, {0, 1, 0}}, {{0, 2, 0}, {1, 0, 0}}, {{0, 1, 0}, {0, 0, 1}},
      {{0, 2, 0}, {0, 0, 1}},   {{1, 0, 0}, {0, 0, 1}}, {{2, 0, 0}, {0, 0, 1}}};
  if (relation != Relation::DifferentBlocks) return {pairs, {{none, none}}};
  std::vector<std::pair<Index, Index>> threads = {{none, none},       {none, {1, 0, 0}},  {{1, 0, 0}, none},
                                                  {{-1, 0, 0}, none}, {none, {-1, 0, 0}}, {none, {0, 1, 0}}};
  std::vector<std::pair<Index, Index>> blocks = {
      {none, {1, 0, 0}}, {none, {0, 1, 0}}, {none, {0, 0, 1}}, {{1, 0, 0}, none}, {none, {2, 0, 0}}};
  return {threads, blocks};
}

Int clamped(const Symbol& s, Int value) { return std::clamp(value, s.lo, s.hi); }

class Search {
public:
  Search(const std::vector<Expr>& constraints, const Copies& copies)
      : constraints(constraints), copies(copies) {
    std::unordered_set<Expr> seen;
    for (Expr c : constraints)
      bottomUp(
          c, [&](Expr n) { return seen.count(n) != 0; },
          [&](Expr n) {
            seen.insert(n);
            if (n->op == Op::Symbol) note(n);
            if (n->op == Op::Apply && n->width == 1) conditions.insert(n->function);
          });
    if (!hasParameters) return;
    Ranges ranges;
    for (Expr c : constraints) ranges.assume(c);
    for (auto& [symbol, parameter] : parameters)
      if (const Range known = ranges.of(parameter.expr); !known.isEmpty()) parameter.bounds = known;
  }

  bool hasCounters = false, hasParameters = false, hasFreeBlock = false, hasFreeGrid = false,
       hasUnknownConditions = false;

  bool asksFunctions() const { return !conditions.empty(); }
  Int widestBlock = 1; ///< along x, where the launch fixes it

  bool holds(const Candidate& c, Assignment& values) const {
    for (const Symbol* s : symbols) values.symbols[s] = std::int64_t(valueOf(*s, c));
    for (const Function* f : conditions) values.defaults[f] = c.truth;
    return satisfies(values, constraints);
  }

private:
  void note(Expr e) {
    const Symbol* s = e->symbol;
    symbols.push_back(s);
    hasUnknownConditions |= s->kind == SymbolKind::Unknown && s->width == 1;
    if (s->kind == SymbolKind::Parameter)
      parameters.emplace(s, Parameter{e, parameters.size(), {s->lo, s->hi}});
    hasCounters |= s->kind == SymbolKind::LoopCounter;
    hasParameters |= s->kind == SymbolKind::Parameter;
    hasFreeBlock |= s->kind == SymbolKind::BlockDim;
    hasFreeGrid |= s->kind == SymbolKind::GridDim;
    if (s->kind == SymbolKind::ThreadIdx && s->axis == 0) widestBlock = std::max(widestBlock, s->hi + 1);
  }

  Int valueOf(const Symbol& s, const Candidate& c) const {
    unsigned thread = copies.threadOf(&s), which = thread == 2;
    unsigned axis = s.axis;
    switch (s.kind) {
    case SymbolKind::ThreadIdx: {
      Int v = c.thread[which][axis];
      if (v < 0) v = hasFreeBlock ? c.blockDim[axis] - 1 : s.hi;
      return clamped(s, v);
    }
    case SymbolKind::BlockIdx: {
      Int v = c.block[which][axis];
      if (v < 0) v = hasFreeGrid ? c.gridDim[axis] - 1 : s.hi;
      return clamped(s, v);
    }
    case SymbolKind::BlockDim: return clamped(s, c.blockDim[axis]);
    case SymbolKind::GridDim: return clamped(s, c.gridDim[axis]);
    case SymbolKind::LoopCounter: return clamped(s, c.counter[which]);
    case SymbolKind::Parameter: {
      const Parameter& known = parameters.at(&s);
      Int v = c.parameters[known.number % c.parameters.size()];
      return s.width == 1 ? v & 1 : std::clamp(v, known.bounds.lo, known.bounds.hi);
    }
    case SymbolKind::Unknown: return s.width == 1 ? Int(c.truth) : clamped(s, 0);
    default: return 0;
    }
  }

  const std::vector<Expr>& constraints;
  const Copies& copies;
  std::vector<const Symbol*> symbols;
  std::unordered_set<const Function*> conditions;
  struct Parameter {
    Expr expr;
    std::size_t number; ///< in which order they were met
    Range bounds;       ///< as far as the constraints say
  };
  std::unordered_map<const Symbol*, Parameter> parameters;
};

} // namespace

std::optional<Assignment> searchWitness(const std::vector<Expr>& constraints, const Copies& copies,
                                        std::optional<Relation> relation) {
  Search search(constraints, copies);
  Suspects suspects = suspectsOf(relation);
  std::vector<Index> shapes = {{128, 1, 1}};
  if (search.hasFreeBlock) shapes = {{128, 1, 1}, {16, 8, 1}, {8, 4, 4}};
  Index grid{4, 2, 2};
  std::vector<std::pair<Int, Int>> counters = {{0, 0}};
  if (search.hasCounters) counters = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
  std::vector<std::array<Int, 4>> parameters = {{1024, 1024, 1024, 1024}};
  if (search.hasParameters)
    parameters = {{1024, 1024, 1024, 1024},
                  {64, 64, 64, 64},
                  {2, 16, 3, 5},
                  {16, 2, 5, 3},
                  {1, 1, 1, 1},
                  {0, 0, 0, 0},
                  {100, 7, 33, 2},
                  {2, 2, 2, 2},
                  {7, 100, 2, 33},
                  {3, 1, 8, 100000}};
  // Rows as long as a block is wide: where a block ends, the next row begins.
  const Int row = search.hasFreeBlock ? shapes.front()[0] : search.widestBlock;
  // Or twice as long: what is mirrored meets itself there.
  if (search.hasParameters)
    parameters.insert(parameters.end(),
                      {{1024, row, 1024, row}, {row, 1024, row, 1024}, {2 * row, 2 * row, 2 * row, 2 * row}});
  // Sizes that hardly differ, and as small as can be.
  if (search.hasParameters)
    parameters.insert(parameters.end(), {{2, 3, 4, 5}, {3, 2, 5, 4}, {3, 4, 5, 6}, {4, 3, 6, 5}});
  // Many elements, one behind the other.
  if (search.hasParameters) parameters.insert(parameters.end(), {{1024, 1, 1024, 1}, {1, 1024, 1, 1024}});
  Assignment values;
  std::vector<bool> truths = {true};
  if (search.hasUnknownConditions || search.asksFunctions()) truths = {true, false};
  unsigned budget = 1500;
  for (const Index& shape : shapes)
    for (auto& sizes : parameters)
      for (auto [counter1, counter2] : counters)
        for (bool truth : truths)
          for (auto& [block1, block2] : suspects.blocks)
            for (auto& [thread1, thread2] : suspects.threads) {
              if (budget-- == 0) return std::nullopt;
              Candidate c{
                  {thread1, thread2}, {block1, block2}, shape, grid, {counter1, counter2}, truth, sizes};
              if (search.holds(c, values)) return values;
            }
  return std::nullopt;
}

} // namespace kcheck::analyzer
