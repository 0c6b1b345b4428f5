// Proofs by cases: a symbol with few values, on which choices, shifts or masks depend, takes each of them in
// turn, and what is left is plain arithmetic.
#include "analyzer/decide/arms.h"
#include "analyzer/decide/question.h"

#include "analyzer/expr/fold.h"

#include <algorithm>
#include <deque>

namespace kcheck::analyzer {

namespace {

constexpr Int kMostValues = 64;

/// Symbols that decide a choice, an amount of shifting, a mask or a divisor somewhere below e.
void collectDecisive(Expr e, std::unordered_set<Expr>& result) {
  auto symbolsBelow = [&](Expr part) {
    anyNode(part, [&](Expr n) {
      if (n->op == Op::Symbol) result.insert(n);
      return false;
    });
  };
  anyNode(e, [&](Expr n) {
    switch (n->op) {
    case Op::Ite: symbolsBelow(n->operands[0]); break;
    case Op::Shl:
    case Op::LShr:
    case Op::AShr:
    case Op::UDiv:
    case Op::SDiv:
    case Op::URem:
    case Op::SRem:
      if (!isConst(n->operands[1])) symbolsBelow(n->operands[1]);
      break;
    case Op::And:
    case Op::Xor:
    case Op::Or:
      if (n->width > 1 && !isConst(n->operands[1])) symbolsBelow(n);
      break;
    case Op::Mul:
      if (!isConst(n->operands[1])) symbolsBelow(n);
      break;
    default: break;
    }
    return false;
  });
}

} // namespace

Arm fixed(KernelView& kernel, const Arm& arm, Expr symbol, std::int64_t value) {
  ExprContext& c = kernel.context;
  Expr constant = c.constant(symbol->width, value);
  Substitution s(c);
  s.set(symbol, constant);
  auto apply = [&](Expr e) { return e ? s(e) : nullptr; };
  // The equation stays, for the facts that mention the symbol.
  return {c.logicalAnd(apply(arm.condition), c.eq(symbol, constant)), apply(arm.offset), apply(arm.size)};
}

/// Arithmetic once more for divisors of either sign: what is left of a division is less than that.
bool Decider::provesBySign(const PairQuestion& q, Ranges::Wrapping wrapping) {
  AccessView &a = viewOf(*q.a, wrapping), &b = viewOf(*q.b, wrapping);
  std::vector<Expr> divisors;
  auto addDivisors = [&](Expr below) {
    anyNode(below, [&](Expr y) {
      if (y->op == Op::Symbol && !kernel.isPrivate(y, q.relation) && a.ranges.of(y).lo < 1 &&
          b.ranges.of(y).hi > 0 && std::find(divisors.begin(), divisors.end(), y) == divisors.end())
        divisors.push_back(y);
      return false;
    });
  };
  auto addFactors = [&](Expr dividend) { // of both signs, `t * n / threads` rounds in two ways
    anyNode(dividend, [&](Expr n) {
      if (n->op == Op::Mul && !isConst(n->operands[1]))
        for (Expr factor : n->operands)
          if (factor->op == Op::Symbol) addDivisors(factor);
      return false;
    });
  };
  for (const ModelAccess* access : {q.a, q.b})
    for (Expr e : {access->offset, access->condition})
      if (e)
        anyNode(e, [&](Expr n) {
          bool divides = n->op == Op::SDiv || n->op == Op::SRem || n->op == Op::UDiv || n->op == Op::URem;
          if (divides && !isConst(n->operands[1])) addDivisors(n->operands[1]);
          if (divides && n->width > 1) addFactors(n->operands[0]);
          return false;
        });
  if (divisors.empty()) return false;
  // What rows and columns are put together by.
  for (const ModelAccess* access : {q.a, q.b})
    if (access->offset)
      anyNode(access->offset, [&](Expr n) {
        if (n->op == Op::Mul && !isConst(n->operands[1]))
          for (Expr factor : n->operands)
            if (factor->op == Op::Symbol) addDivisors(factor);
        return false;
      });
  ExprContext& c = kernel.context;
  constexpr std::size_t kMostDivisors = 3;
  if (divisors.size() > kMostDivisors) divisors.resize(kMostDivisors);
  auto apart = [&](const Arm& x, const Arm& z) {
    if (isFalse(x.condition) || isFalse(z.condition)) return true;
    AccessView vx(kernel, x.condition, x.offset, x.size, wrapping),
        vz(kernel, z.condition, z.offset, z.size, wrapping);
    return PairSystem(kernel, vx, vz, q.relation).provesApart() ||
           PairSystem(kernel, vx, vz, q.relation).provesApartInOrder();
  };
  std::function<bool(std::size_t, const Arm&, const Arm&)> apartFrom = [&](std::size_t i, const Arm& x,
                                                                           const Arm& z) {
    if (i == divisors.size() || secondsLeft() <= 0) return false;
    Expr y = divisors[i], zero = c.constant(y->width, 0);
    auto apartWhere = [&](Expr holds) {
      Arm u = x, v = z;
      u.condition = c.logicalAnd(u.condition, holds);
      v.condition = c.logicalAnd(v.condition, holds);
      return apart(u, v) || apartFrom(i + 1, u, v);
    };
    auto apartAtZero = [&] {
      Arm u = fixed(kernel, x, y, 0), v = fixed(kernel, z, y, 0);
      return apart(u, v) || apartFrom(i + 1, u, v);
    };
    const bool mayBeNegative = std::max(a.ranges.of(y).lo, b.ranges.of(y).lo) < 0;
    return apartWhere(c.binary(Op::Slt, zero, y)) && apartAtZero() &&
           (!mayBeNegative || apartWhere(c.binary(Op::Slt, y, zero)));
  };
  return apartFrom(0, armOf(*q.a), armOf(*q.b));
}

/// Arithmetic with a name for each sum that rows are as long as (`y * (width + 2 * margin) + x`): what holds
/// for any length holds for this one.
bool Decider::provesByNames(const PairQuestion& q, Ranges::Wrapping wrapping) {
  ExprContext& c = kernel.context;
  Substitution named(c);
  std::vector<std::pair<Expr, Expr>> names;
  auto name = [&](Expr sum) {
    if (std::any_of(names.begin(), names.end(), [&](auto& known) { return known.first == sum; })) return;
    Symbol* length = c.symbol("length " + std::to_string(sum->id), sum->width, SymbolKind::Unknown);
    length->isLength = true;
    names.emplace_back(sum, c.of(length));
    named.set(sum, names.back().second);
  };
  for (const ModelAccess* access : {q.a, q.b})
    if (access->offset)
      anyNode(access->offset, [&](Expr n) {
        if (n->op == Op::Mul && !isConst(n->operands[1]))
          for (Expr factor : n->operands)
            if (factor->op == Op::Add && kernel.variesOf(factor) == Varies::Never) name(factor);
        return false;
      });
  if (names.empty()) return false;
  // What the name stands for, where the columns are bounded by a part of the sum.
  Expr meaning = c.boolean(true);
  for (auto& [sum, length] : names) meaning = c.logicalAnd(meaning, c.eq(length, sum));
  auto viewOfNamed = [&](const ModelAccess& access) {
    return AccessView(kernel, c.logicalAnd(named(access.condition), meaning), named(access.offset),
                      named(access.size), wrapping);
  };
  AccessView a = viewOfNamed(*q.a), b = viewOfNamed(*q.b);
  return PairSystem(kernel, a, b, q.relation).provesApart() ||
         PairSystem(kernel, a, b, q.relation).provesApartInOrder();
}

/// The access by the arms of the choices in its place.
Decider::Parts& Decider::partsOf(const ModelAccess& access, Ranges::Wrapping wrapping) {
  constexpr std::size_t kMostChoices = 2; ///< of a thread
  auto [entry, isNew] = parts[wrapping == Ranges::Wrapping::Assumed].try_emplace(&access);
  if (!isNew) return entry->second;
  std::vector<Expr> choices;
  if (access.offset)
    anyNode(access.offset, [&](Expr n) {
      const bool isChoice = n->op == Op::Ite && n->width >= 32 && isComparison(n->operands[0]->op);
      if (isChoice && std::ranges::find(choices, n->operands[0]) == choices.end())
        choices.push_back(n->operands[0]);
      return false;
    });
  std::vector<Arm> arms{armOf(access)};
  if (choices.size() > kMostChoices) choices.clear();
  ExprContext& c = kernel.context;
  for (Expr choice : choices) {
    std::vector<Arm> parted;
    for (const Arm& arm : arms)
      for (Expr way : {choice, c.logicalNot(choice)}) {
        Substitution s(c);
        s.set(way, c.boolean(true));
        s.set(c.logicalNot(way), c.boolean(false));
        parted.push_back({c.logicalAnd(s(arm.condition), way), s(arm.offset), s(arm.size)});
      }
    arms = std::move(parted);
  }
  entry->second.arms = std::move(arms);
  return entry->second;
}

/// The arms to which a thread may come.
std::deque<AccessView>& Decider::possibleArms(Parts& parts, Ranges::Wrapping wrapping) {
  if (parts.possible) return *parts.possible;
  std::deque<AccessView>& possible = parts.possible.emplace();
  for (const Arm& arm : parts.arms) {
    if (isFalse(arm.condition)) continue;
    possible.emplace_back(kernel, arm.condition, arm.offset, arm.size, wrapping);
    if (possible.back().contradictsItself()) possible.pop_back();
  }
  return possible;
}

/// Arithmetic for each arm of the choices that a place is made of (`min(lo + per, n)`).
bool Decider::provesByArms(const PairQuestion& q, Ranges::Wrapping wrapping) {
  Parts &mine = partsOf(*q.a, wrapping), &others = partsOf(*q.b, wrapping);
  if (mine.arms.size() * others.arms.size() == 1) return false;
  for (AccessView& x : possibleArms(mine, wrapping))
    for (AccessView& y : possibleArms(others, wrapping)) {
      if (secondsLeft() <= 0) return false;
      if (!PairSystem(kernel, x, y, q.relation).provesApart() &&
          !PairSystem(kernel, x, y, q.relation).provesApartInOrder())
        return false;
    }
  return true;
}

bool Decider::provesByCases(const PairQuestion& q, Ranges::Wrapping wrapping) {
  AccessView &a = viewOf(*q.a, wrapping), &b = viewOf(*q.b, wrapping);
  std::unordered_set<Expr> decisive;
  for (const ModelAccess* access : {q.a, q.b})
    for (Expr e : {access->offset, access->size, access->condition})
      if (e) collectDecisive(e, decisive);
  struct Choice {
    Expr symbol;
    Int lo, hi;
    bool isShared;
  };
  std::vector<Choice> choices;
  for (Expr s : decisive) {
    if (s->symbol->kind == SymbolKind::ThreadIdx || s->symbol->kind == SymbolKind::BlockIdx) continue;
    bool isShared = !kernel.isPrivate(s, q.relation);
    Range x = a.ranges.of(s), y = b.ranges.of(s);
    Range r = isShared ? Range{std::max(x.lo, y.lo), std::min(x.hi, y.hi), 0}
                       : Range{std::min(x.lo, y.lo), std::max(x.hi, y.hi), 0};
    if (r.isEmpty()) return isShared; // no value suits both
    Int count = r.hi - r.lo + 1;
    if (count < 2 || count > kMostValues || (!isShared && count > 8)) continue;
    choices.push_back({s, r.lo, r.hi, isShared});
  }
  // Those that both threads share, and those of fewer values, first.
  std::sort(choices.begin(), choices.end(), [](const Choice& x, const Choice& y) {
    if (x.isShared != y.isShared) return x.isShared;
    return x.hi - x.lo != y.hi - y.lo ? x.hi - x.lo < y.hi - y.lo : x.symbol->id < y.symbol->id;
  });
  auto apart = [&](const Arm& x, const Arm& y) {
    if (isFalse(x.condition) || isFalse(y.condition)) return true;
    AccessView vx(kernel, x.condition, x.offset, x.size, wrapping),
        vy(kernel, y.condition, y.offset, y.size, wrapping);
    return PairSystem(kernel, vx, vy, q.relation).provesApart();
  };
  if (PairSystem(kernel, a, b, q.relation).provesApartInOrder()) return true;
  if (provesByNames(q, wrapping) || provesByArms(q, wrapping) || provesBySign(q, wrapping)) return true;
  for (const Choice& choice : choices) {
    bool all = true;
    for (Int v = choice.lo; v <= choice.hi && all; ++v) {
      Arm x = fixed(kernel, armOf(*q.a), choice.symbol, std::int64_t(v));
      if (choice.isShared) {
        all = apart(x, fixed(kernel, armOf(*q.b), choice.symbol, std::int64_t(v)));
        continue;
      }
      for (Int w = choice.lo; w <= choice.hi && all; ++w)
        all = apart(x, fixed(kernel, armOf(*q.b), choice.symbol, std::int64_t(w)));
    }
    if (all) return true;
    if (secondsLeft() <= 0) return false;
  }
  // Two at once: the stages of nested loops.
  constexpr Int kMostPairs = 256;
  constexpr std::size_t kMostChoices = 3;
  std::erase_if(choices, [](const Choice& choice) { return !choice.isShared; });
  if (choices.size() > kMostChoices) choices.resize(kMostChoices);
  auto provesPair = [&](const Choice& outer, const Choice& inner) {
    for (Int v = outer.lo; v <= outer.hi; ++v) {
      Arm x = fixed(kernel, armOf(*q.a), outer.symbol, std::int64_t(v));
      Arm y = fixed(kernel, armOf(*q.b), outer.symbol, std::int64_t(v));
      if (apart(x, y)) continue;
      for (Int w = inner.lo; w <= inner.hi; ++w) {
        if (secondsLeft() <= 0) return false;
        if (!apart(fixed(kernel, x, inner.symbol, std::int64_t(w)),
                   fixed(kernel, y, inner.symbol, std::int64_t(w))))
          return false;
      }
    }
    return true;
  };
  for (std::size_t i = 0; i < choices.size(); ++i)
    for (std::size_t j = i + 1; j < choices.size(); ++j) {
      Int cases = (choices[i].hi - choices[i].lo + 1) * (choices[j].hi - choices[j].lo + 1);
      if (cases <= kMostPairs && provesPair(choices[i], choices[j])) return true;
    }
  return provesByRounds(q, wrapping, decisive);
}

} // namespace kcheck::analyzer
