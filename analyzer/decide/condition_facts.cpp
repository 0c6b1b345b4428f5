// What a path condition says in arithmetic: inequalities, equations, and what follows from choices and
// alternatives in it. What divisions say is in divisions.cpp.
#include "analyzer/decide/view.h"

#include "analyzer/decide/inequality.h"
#include "analyzer/expr/fold.h"

#include <algorithm>

namespace kcheck::analyzer {

Inequalities AccessView::inequalities() {
  std::vector<const Poly*> known;
  for (const Poly& f : facts.nonNegative)
    if (f.valid) known.push_back(&f);
  return Inequalities([this](const Atom& atom) { return ranges.of(atom.node); }, std::move(known));
}

bool AccessView::contradictsItself() {
  const Inequalities known = inequalities();
  const auto isNegative = [&](const Poly& p) {
    Poly below = Poly() - p;
    below.add(Monomial{}, -1);
    return known.provesNonNegative(below);
  };
  const auto isZero = [&](const Poly& p) {
    return p.valid && known.provesNonNegative(p) && known.provesNonNegative(Poly() - p);
  };
  return !isPossible || std::ranges::any_of(facts.nonNegative, isNegative) ||
         std::ranges::any_of(facts.nonZero, isZero);
}

void AccessView::collectFacts(KernelView& kernel) {
  std::vector<Expr> conjuncts = conjunctsOf(condition);
  conjuncts.insert(conjuncts.end(), kernel.facts.begin(), kernel.facts.end());
  collectSignedFacts(kernel, conjuncts);
  collectUnsignedFacts(conjuncts);
  collectAlternatives(conjuncts);
}

/// `p` with a number for the counter; not valid where the counter does not stand alone.
static Poly withCounter(const Poly& p, Expr counter, Int number) {
  Poly result;
  for (auto& [monomial, coefficient] : p.terms) {
    if (monomial.size() == 1 && monomial.front().node == counter) {
      result.add(Monomial{}, coefficient * number);
      continue;
    }
    result.add(monomial, coefficient);
    if (std::any_of(monomial.begin(), monomial.end(), [&](const Atom& atom) {
          return anyNode(atom.node, [&](Expr n) { return n == counter; });
        }))
      result.valid = false;
  }
  return result;
}

/// `k == 0 || low <= high - k`, as of a loop that has been left in round k, where the latter holds of k = 0
/// as well: then it holds.
void AccessView::collectAlternatives(const std::vector<Expr>& conjuncts) {
  constexpr std::size_t kMost = 8;
  std::vector<Poly> found;
  auto collect = [&](Expr first, Expr later) {
    if (first->op != Op::Eq || first->operands[0]->op != Op::Symbol || !isConst(first->operands[1])) return;
    for (Expr part : conjunctsOf(later)) {
      if ((part->op != Op::Slt && part->op != Op::Sle) || part->operands[0]->width == 1) continue;
      Poly more = linear.of(part->operands[1]) - linear.of(part->operands[0]);
      if (part->op == Op::Slt) more.add(Monomial{}, -1);
      const Poly atFirst = withCounter(more, first->operands[0], first->operands[1]->value);
      if (!more.valid || !atFirst.valid || found.size() == kMost) continue;
      if (inequalities().provesNonNegative(atFirst)) found.push_back(std::move(more));
    }
  };
  for (Expr c : conjuncts) {
    if (c->op != Op::Or || c->width != 1) continue;
    collect(c->operands[0], c->operands[1]);
    collect(c->operands[1], c->operands[0]);
  }
  facts.nonNegative.insert(facts.nonNegative.end(), found.begin(), found.end());
}

void AccessView::collectSignedFacts(KernelView& kernel, const std::vector<Expr>& conjuncts) {
  for (Expr c : conjuncts) {
    if (kernel.variesOf(c) == Varies::Never) facts.uniform.push_back(c);
    if (c->op == Op::Xor && isTrue(c->operands[1]) && c->operands[0]->op == Op::Eq &&
        c->operands[0]->operands[0]->width > 1) {
      Poly apart = linear.of(c->operands[0]->operands[0]) - linear.of(c->operands[0]->operands[1]);
      if (apart.valid) facts.nonZero.push_back(std::move(apart));
    }
    if (!isComparison(c->op) || c->operands[0]->width == 1) continue;
    Expr x = c->operands[0], y = c->operands[1];
    bool isUnsigned = c->op == Op::Ult || c->op == Op::Ule;
    Poly p = isUnsigned ? linear.ofUnsigned(x) : linear.of(x);
    Poly q = isUnsigned ? linear.ofUnsigned(y) : linear.of(y);
    // 64-bit unsigned readings have no wider type to stand in; use them where the sign is known.
    if (isUnsigned && x->width == 64 && (ranges.of(x).lo < 0 || ranges.of(y).lo < 0)) continue;
    Poly difference = q - p;
    if (!difference.valid) continue;
    if (c->op == Op::Eq) {
      facts.zero.emplace_back(c, difference);
      facts.nonNegative.push_back(difference);
      facts.nonNegative.push_back(difference.scaled(-1));
      continue;
    }
    if (c->op == Op::Ult || c->op == Op::Slt) difference.add(Monomial{}, -1);
    facts.nonNegative.push_back(difference);
    // Below a minimum is below both, above a maximum above both.
    const Poly *left = &p, *right = &q;
    for (Expr choice : {x, y}) {
      if (choice->op != Op::Ite || isUnsigned) continue;
      const auto extremum = extremumOf(choice);
      if (!extremum || extremum->isLeast != (choice == y)) continue;
      for (const Poly& arm : extremum->arms) {
        Poly one = choice == y ? arm - *left : *right - arm;
        if (c->op == Op::Ult || c->op == Op::Slt) one.add(Monomial{}, -1);
        if (one.valid) facts.nonNegative.push_back(std::move(one));
      }
    }
  }
}

/// `x < y` without sign where the other conditions show that y is not negative: `i < size - first` with
/// `first
/// <= size`.
void AccessView::collectUnsignedFacts(const std::vector<Expr>& conjuncts) {
  for (Expr c : conjuncts) {
    if ((c->op != Op::Ult && c->op != Op::Ule) || ranges.of(c->operands[1]).lo >= 0) continue;
    const Poly x = linear.of(c->operands[0]), y = linear.of(c->operands[1]);
    if (!x.valid || !y.valid || y.terms.size() < 2 || !inequalities().provesNonNegative(y)) continue;
    Poly below = y - x;
    if (c->op == Op::Ult) below.add(Monomial{}, -1);
    facts.nonNegative.push_back(std::move(below));
    facts.nonNegative.push_back(x);
  }
}

/// `p < q ? x : y` that is the lesser of x and y, or the greater, whatever p and q are: `last > end ? end -
/// first : last - first`.
std::optional<AccessView::Extremum> AccessView::extremumOf(Expr choice) {
  Expr test = choice->operands[0];
  if (test->op != Op::Slt && test->op != Op::Sle) return {};
  if (test->operands[0]->width == 1) return {};
  const Poly then = linear.of(choice->operands[1]), otherwise = linear.of(choice->operands[2]);
  const Poly more = otherwise - then;
  Poly distance = linear.of(test->operands[1]) - linear.of(test->operands[0]); // > 0, or >= 0
  if (!more.valid || !distance.valid) return {};
  if (test->op == Op::Slt) distance.add(Monomial{}, -1); // now >= 0 when the test holds, else <= -1
  for (const bool isLeast : {true, false}) {
    // more = distance + rest, of which -1 <= ... the test decides the sign.
    const Poly rest = (isLeast ? more : more.scaled(-1)) - distance;
    if (!rest.isConstant() || rest.constant() < 0 || rest.constant() > 1) continue;
    return Extremum{{then, otherwise}, isLeast};
  }
  return {};
}

} // namespace kcheck::analyzer
