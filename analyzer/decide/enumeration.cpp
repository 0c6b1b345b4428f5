// Where two threads can be anything but many: all of them, in each round of their loops, side by side.
// Decides what solvers find hard of small launches: permutations of bits, butterflies, products of indices.
#include "analyzer/decide/question.h"

#include "analyzer/clock.h"
#include "analyzer/expr/fold.h"
#include "analyzer/expr/tape.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {

constexpr double kMostEvaluations = 1 << 18; ///< for a question
constexpr double kMostSeconds = 1.5;         ///< for a kernel

struct Variable {
  const Symbol* symbol = nullptr;
  std::int64_t lo = 0, hi = 0;
  double count() const { return double(hi) - double(lo) + 1; }
};

double countOf(const std::vector<Variable>& variables) {
  double result = 1;
  for (const Variable& v : variables) result *= v.count();
  return result;
}

/// Calls `visit` with every combination of values; false as soon as it gives that.
template <class Visit>
bool forEach(const std::vector<Variable>& variables, std::vector<std::int64_t>& values, const Visit& visit) {
  values.clear();
  for (const Variable& v : variables) values.push_back(v.lo);
  for (;;) {
    if (!visit()) return false;
    std::size_t i = 0;
    for (; i < variables.size(); ++i) {
      if (values[i] < variables[i].hi) {
        ++values[i];
        break;
      }
      values[i] = variables[i].lo;
    }
    if (i == variables.size()) return true;
  }
}

/// One of the two accesses: what it depends on, and what it comes to.
struct Side {
  AccessView* view = nullptr;
  Poly offset;
  std::vector<Variable> own;
  std::vector<Expr> filters;
  std::vector<std::pair<Int, std::vector<std::size_t>>>
      terms; ///< of the offset: factors, as roots of the tape
  std::optional<Tape> tape;
  std::vector<std::int64_t> values; ///< of the own variables
};

/// Where a thread's access lies, and which thread it is.
struct Place {
  Int offset = 0;
  std::size_t number = 0; ///< in the order of the threads
  std::int64_t linear = 0, block[3] = {};
  std::vector<std::int64_t> values;
};

class Enumeration {
public:
  Enumeration(KernelView& kernel, const PairQuestion& q, AccessView& a, AccessView& b)
      : kernel(kernel), relation(q.relation), sizes{q.a->size->value, q.b->size->value} {
    sides[0].view = &a;
    sides[1].view = &b;
  }

  /// False where there is too much to try.
  bool prepare() {
    takeOffsets();
    for (Side& side : sides) {
      if (!need(side, kernel.linearThread)) return false;
      if (relation == Relation::DifferentBlocks)
        for (Expr index : kernel.model.blockIdx)
          if (index && !isConst(index) && !need(side, index)) return false;
      for (auto& [monomial, coefficient] : side.offset.terms)
        for (const Atom& atom : monomial)
          if (!need(side, atom.node)) return false;
    }
    if (!isFew()) return false;
    for (Side& side : sides) {
      for (Expr part : conjunctsOf(side.view->condition)) addFilter(side, part);
      for (Expr fact : kernel.facts) addFilter(side, fact);
      layOut(side);
    }
    return true;
  }

  /// Calls `meets` with each two places that have a byte in common, until it gives false.
  template <class Meets> bool run(const Meets& meets) {
    std::vector<Place> places;
    return forEach(common, commonValues, [&] {
      for (Side& side : sides)
        for (std::size_t i = 0; i < common.size(); ++i) side.tape->set(common[i].symbol, commonValues[i]);
      places.clear();
      visit(sides[1], [&](Place place) {
        place.values = sides[1].values;
        place.number = places.size();
        places.push_back(std::move(place));
        return true;
      });
      std::ranges::sort(places, {}, [](const Place& place) { return std::pair(place.offset, place.number); });
      return visit(sides[0], [&](const Place& first) {
        auto second = std::partition_point(places.begin(), places.end(), [&](const Place& place) {
          return place.offset <= first.offset - sizes[1];
        });
        for (; second != places.end() && second->offset < first.offset + sizes[0]; ++second)
          if (areTwo(first, *second) && !meets(*second)) return false;
        return true;
      });
    });
  }

  /// The value of an original symbol where two places meet; null: it has not been tried out.
  const std::int64_t* valueOf(const Symbol* symbol, unsigned thread, const Place& second) const {
    auto within = [&](const std::vector<Variable>& variables, const std::vector<std::int64_t>& values) {
      for (std::size_t i = 0; i < variables.size(); ++i)
        if (variables[i].symbol == symbol) return &values[i];
      return static_cast<const std::int64_t*>(nullptr);
    };
    if (thread == 0) return within(common, commonValues);
    return thread == 1 ? within(sides[0].own, sides[0].values) : within(sides[1].own, second.values);
  }

private:
  /// As polynomials, without what both have and is the same for both: `row * pitch`, wherever that is.
  void takeOffsets() {
    for (Side& side : sides)
      side.offset = side.view->offsetPoly.valid ? side.view->offsetPoly : Poly(Atom{side.view->offset, 0});
    const Poly a = sides[0].offset, b = sides[1].offset;
    for (auto& [monomial, coefficient] : a.terms) {
      const bool isShared = std::none_of(monomial.begin(), monomial.end(), [&](const Atom& atom) {
        return kernel.isPrivate(atom.node, relation);
      });
      auto other = b.terms.find(monomial);
      if (!isShared || other == b.terms.end() || other->second != coefficient) continue;
      for (Side& side : sides) side.offset.add(monomial, -coefficient);
    }
  }

  /// Adds what `e` follows to what is tried out; false where that is not possible.
  bool need(Side& side, Expr e) {
    if (anyNode(e, [](Expr n) { return n->op == Op::Apply; })) return false;
    bool isBounded = true;
    anyNode(e, [&](Expr n) {
      if (n->op == Op::Symbol) isBounded = isBounded && take(side, n);
      return !isBounded;
    });
    return isBounded;
  }

  bool take(Side& side, Expr symbol) {
    const bool isPrivate = kernel.isPrivate(symbol, relation);
    std::vector<Variable>& variables = isPrivate ? side.own : common;
    if (std::any_of(variables.begin(), variables.end(),
                    [&](const Variable& v) { return v.symbol == symbol->symbol; }))
      return true;
    Range range = side.view->ranges.of(symbol);
    if (!isPrivate)
      for (Side& other : sides) {
        const Range r = other.view->ranges.of(symbol);
        range.lo = std::max(range.lo, r.lo);
        range.hi = std::min(range.hi, r.hi);
      }
    if (range.hi - range.lo >= Int(kMostEvaluations)) return false;
    // The tape reads with sign, and polynomials what has none without.
    if (symbol->width > 1 && range.hi > signedMax(symbol->width)) return false;
    if (range.hi < range.lo) range.hi = range.lo; // no thread comes there: one value is as good as none
    variables.push_back({symbol->symbol, std::int64_t(range.lo), std::int64_t(range.hi)});
    return isFew();
  }

  bool isFew() const {
    return countOf(common) * (countOf(sides[0].own) + countOf(sides[1].own)) <= kMostEvaluations;
  }

  /// What has to hold of the thread, where it follows what can be tried out.
  void addFilter(Side& side, Expr condition) {
    const std::vector<Variable> own = side.own, shared = common;
    if (need(side, condition)) {
      side.filters.push_back(condition);
    } else {
      side.own = own;
      common = shared;
    }
  }

  void layOut(Side& side) {
    std::vector<Expr> roots{kernel.linearThread};
    for (Expr index : kernel.model.blockIdx)
      roots.push_back(index && relation == Relation::DifferentBlocks ? index
                                                                     : kernel.context.constant(32, 0));
    for (Expr filter : side.filters) roots.push_back(filter);
    for (auto& [monomial, coefficient] : side.offset.terms) {
      side.terms.push_back({coefficient, {}});
      for (const Atom& atom : monomial) {
        side.terms.back().second.push_back(roots.size());
        roots.push_back(atom.node);
      }
    }
    side.tape.emplace(roots);
  }

  template <class Take> bool visit(Side& side, const Take& take) {
    Tape& tape = *side.tape;
    return forEach(side.own, side.values, [&] {
      for (std::size_t i = 0; i < side.own.size(); ++i) tape.set(side.own[i].symbol, side.values[i]);
      tape.run();
      for (std::size_t i = 0; i < side.filters.size(); ++i)
        if (!tape[kFirstFilter + i]) return true;
      Place place;
      place.linear = tape[0];
      for (std::size_t i = 0; i < 3; ++i) place.block[i] = tape[1 + i];
      for (auto& [coefficient, factors] : side.terms) {
        Int term = coefficient;
        for (std::size_t factor : factors) term *= tape[factor];
        place.offset += term;
      }
      return take(std::move(place));
    });
  }

  /// Whether these may be the two threads of the question.
  bool areTwo(const Place& x, const Place& y) const {
    const bool sameWarp = x.linear / 32 == y.linear / 32;
    switch (relation) {
    case Relation::DifferentBlocks: return !std::equal(x.block, x.block + 3, y.block);
    case Relation::SameBlock: return x.linear != y.linear;
    case Relation::SameWarp:
    case Relation::LanesApart: return sameWarp && x.linear != y.linear;
    default: return !sameWarp;
    }
  }

  static constexpr std::size_t kFirstFilter = 4;
  KernelView& kernel;
  Relation relation;
  Int sizes[2];
  Side sides[2];
  std::vector<Variable> common;
  std::vector<std::int64_t> commonValues;
};

} // namespace

std::optional<Verdict> Decider::tryAll(const PairQuestion& q, Ranges::Wrapping wrapping,
                                       const std::vector<Expr>& constraints) {
  if (!q.a->offset || !q.b->offset || !isConst(q.a->size) || !isConst(q.b->size)) return {};
  if (enumerationSeconds > kMostSeconds || secondsLeft() <= 0) return {};
  const double begun = threadSeconds();
  AccessView &a = viewOf(*q.a, wrapping), &b = viewOf(*q.b, wrapping);
  if (!a.isPossible || !b.isPossible) return {};
  Enumeration all(kernel, q, a, b);
  std::optional<Verdict> result;
  if (all.prepare()) {
    // What does not follow the values that are tried out may yet keep the two apart.
    constexpr unsigned kMostTries = 32;
    unsigned tries = 0;
    const bool neverMeets = all.run([&](const auto& second) {
      if (wrapping != Ranges::Wrapping::Exact || limits.proofOnly || ++tries > kMostTries) return false;
      for (const std::int64_t size : {1024, 64, 1 << 20}) {
        Assignment values;
        for (Expr constraint : constraints)
          anyNode(constraint, [&](Expr n) {
            if (n->op != Op::Symbol) return false;
            const Symbol& s = *n->symbol;
            if (auto* value = all.valueOf(copies.original(&s), copies.threadOf(&s), second))
              values.symbols[&s] = *value;
            else if (s.kind == SymbolKind::Parameter && s.width > 1)
              values.symbols[&s] = std::int64_t(std::clamp<Int>(size, s.lo, s.hi));
            return false;
          });
        if (!satisfies(values, constraints)) continue;
        result = happens(std::move(values), constraints);
        return false;
      }
      return true;
    });
    if (neverMeets && tries == 0) {
      result.emplace();
      result->outcome = Verdict::Outcome::Never;
      result->assumesNoWrap = wrapping == Ranges::Wrapping::Assumed;
      ++counters.arithmetic;
    }
  }
  enumerationSeconds += threadSeconds() - begun;
  return result;
}

} // namespace kcheck::analyzer
