// The work list of a pair's equations, and the exclusion of its conditions.
#include "analyzer/decide/overlap.h"

#include <algorithm>
#include <set>

namespace kcheck::analyzer {

PairSystem::PairSystem(KernelView& kernel, AccessView& a, AccessView& b, Relation relation)
    : kernel(kernel), a(a), b(b), relation(relation) {}

Range PairSystem::rangeOf(const Atom& atom) {
  if (atom.thread == 1) return a.ranges.of(atom.node);
  if (atom.thread == 2) return b.ranges.of(atom.node);
  Range x = a.ranges.of(atom.node), y = b.ranges.of(atom.node);
  Range both{std::max(x.lo, y.lo), std::min(x.hi, y.hi), x.maybe & y.maybe};
  if (both.isEmpty()) { // one value, and no value is possible for both
    contradiction = true;
    return x;
  }
  return both;
}

Poly PairSystem::canonical(const Poly& p) {
  return p.mapped(
      [&](Atom atom) { return Atom{atom.node, isEqual(atom.node) ? std::uint8_t(0) : atom.thread}; });
}

static Inequalities inequalities(std::function<Range(const Atom&)> rangeOf, const std::vector<Poly>& facts) {
  std::vector<const Poly*> known;
  for (const Poly& f : facts) known.push_back(&f);
  return Inequalities(std::move(rangeOf), std::move(known));
}

Bounds PairSystem::boundsOf(const Poly& p) {
  return Inequalities([this](const Atom& atom) { return rangeOf(atom); }, {}).bounds(p);
}

bool PairSystem::proves(const Poly& p) {
  if (factsStale) {
    facts.clear();
    for (const Poly& f : a.facts.nonNegative) facts.push_back(canonical(instance(f, relation, 1)));
    for (const Poly& f : b.facts.nonNegative) facts.push_back(canonical(instance(f, relation, 2)));
    for (const Poly& f : given) facts.push_back(canonical(f));
    std::sort(facts.begin(), facts.end(), [](const Poly& x, const Poly& y) { return x.terms < y.terms; });
    facts.erase(std::unique(facts.begin(), facts.end(),
                            [](const Poly& x, const Poly& y) { return x.terms == y.terms; }),
                facts.end());
    std::erase_if(facts, [](const Poly& f) { return !f.valid || f.isConstant(); });
    factsStale = false;
  }
  return inequalities([this](const Atom& atom) { return rangeOf(atom); }, facts).provesNonNegative(p);
}

/// Whether what one condition says of values common to both threads contradicts the other.
bool PairSystem::conditionsExclude() {
  auto shared = [&](const AccessView& view) {
    std::vector<Expr> result = view.facts.uniform;
    if (relation != Relation::DifferentBlocks)
      for (Expr c : conjunctsOf(view.condition))
        if (kernel.variesOf(c) == Varies::ByBlock) result.push_back(c);
    return result;
  };
  std::unordered_set<Expr> mine;
  for (Expr c : shared(a)) mine.insert(c);
  for (Expr c : shared(b))
    if (mine.count(kernel.context.logicalNot(c))) return true;
  return false;
}

void PairSystem::addEquation(Poly poly, Int lo, Int hi) {
  poly = canonical(poly);
  if (!poly.valid || poly.isConstant()) {
    if (poly.valid && (poly.constant() < lo || poly.constant() > hi)) contradiction = true;
    return;
  }
  Int constant = poly.constant();
  poly.add(Monomial{}, -constant);
  lo -= constant;
  hi -= constant;
  for (const Equation& e : equations)
    if (e.lo == lo && e.hi == hi && e.poly.terms == poly.terms) return;
  if (equations.size() < mostEquations) equations.push_back({std::move(poly), lo, hi});
}

bool PairSystem::isOneThread() {
  if (relation == Relation::DifferentWarps) return isEqual(kernel.warp);
  for (int i = 0; i < 3; ++i) {
    Expr index = relation == Relation::DifferentBlocks ? kernel.model.blockIdx[i] : kernel.model.threadIdx[i];
    if (index && !isEqual(index)) return false;
  }
  return true;
}

void PairSystem::work(const Equation& e) {
  Poly p = canonical(e.poly);
  if (!p.valid) return;
  Equation now{p, e.lo, e.hi};
  Bounds range = boundsOf(p);
  if (range.hi < now.lo || range.lo > now.hi) {
    contradiction = true;
    return;
  }
  eliminateByGaps(now);
  if (contradiction) return;
  splitByRadix(now);
  if (contradiction || isOneThread()) return;
  Poly above = p, below = p.scaled(-1);
  above.add(Monomial{}, -now.hi - 1); // p > hi
  below.add(Monomial{}, now.lo - 1);  // p < lo
  if (proves(above) || proves(below)) contradiction = true;
}

/// Byte ranges as inequalities, for sizes that are not constant.
bool PairSystem::offsetsApart() {
  Poly start1 = instance(a.offsetPoly, relation, 1), start2 = instance(b.offsetPoly, relation, 2);
  Poly size1 = instance(a.sizePoly, relation, 1), size2 = instance(b.sizePoly, relation, 2);
  Poly after = start1 - start2 - size2, before = start2 - start1 - size1;
  return proves(canonical(after)) || proves(canonical(before));
}

/// Whether the equations make some inequality of a condition fail: `c#1 == r#2` and `r#1 == c#2` where both
/// threads have c < r.
bool PairSystem::factsContradict() {
  constexpr std::size_t kMostTries = 24;
  std::vector<Poly> known;
  std::set<Atom> linked;
  for (const Equation& e : equations) {
    if (e.lo != e.hi) continue;
    Poly p = canonical(e.poly);
    if (!p.valid || p.terms.size() > 4) continue;
    p.add(Monomial{}, -e.lo);
    bool crosses[3] = {};
    for (auto& [monomial, coefficient] : p.terms)
      for (const Atom& atom : monomial) crosses[atom.thread] = true;
    if (!crosses[1] || !crosses[2]) continue;
    for (auto& [monomial, coefficient] : p.terms) linked.insert(monomial.begin(), monomial.end());
    known.push_back(p.scaled(-1));
    known.push_back(std::move(p));
  }
  if (known.empty()) return false;
  proves(Poly{}); // brings the facts up to date
  std::size_t equalities = known.size();
  known.insert(known.end(), facts.begin(), facts.end());
  Inequalities all = inequalities([this](const Atom& atom) { return rangeOf(atom); }, known);
  std::size_t tries = 0;
  for (std::size_t i = equalities; i < known.size() && tries < kMostTries; ++i) {
    bool touches = false;
    for (auto& [monomial, coefficient] : known[i].terms)
      for (const Atom& atom : monomial) touches = touches || linked.count(atom) != 0;
    if (!touches) continue;
    ++tries;
    Poly fails = known[i].scaled(-1);
    fails.add(Monomial{}, -1);
    if (all.provesNonNegative(fails)) return true;
  }
  return false;
}

/// Whether the equations make equal what a condition says is not: `j#1 == k` where thread 1 has j != k.
bool PairSystem::joinsWhatDiffers() {
  constexpr std::size_t kMostTries = 8;
  std::vector<Poly> differ;
  for (const Poly& p : a.facts.nonZero) differ.push_back(canonical(instance(p, relation, 1)));
  for (const Poly& p : b.facts.nonZero) differ.push_back(canonical(instance(p, relation, 2)));
  std::erase_if(differ, [](const Poly& p) { return !p.valid; });
  if (differ.empty()) return false;
  std::vector<Poly> known;
  std::set<Atom> linked;
  for (const Equation& e : equations) {
    if (e.lo != e.hi) continue;
    Poly p = canonical(e.poly);
    if (!p.valid || p.terms.size() > 4) continue;
    p.add(Monomial{}, -e.lo);
    for (auto& [monomial, coefficient] : p.terms) linked.insert(monomial.begin(), monomial.end());
    known.push_back(p.scaled(-1));
    known.push_back(std::move(p));
  }
  proves(Poly{}); // brings the facts up to date
  known.insert(known.end(), facts.begin(), facts.end());
  Inequalities all = inequalities([this](const Atom& atom) { return rangeOf(atom); }, known);
  std::size_t tries = 0;
  for (const Poly& p : differ) {
    if (p.isConstant() && p.constant() == 0) return true;
    bool touches = false;
    for (auto& [monomial, coefficient] : p.terms)
      for (const Atom& atom : monomial) touches = touches || linked.count(atom) != 0;
    if (!touches || tries++ == kMostTries) continue;
    if (all.provesNonNegative(p) && all.provesNonNegative(p.scaled(-1))) return true;
  }
  return false;
}

void PairSystem::workAll() {
  while (!contradiction && !isOneThread() && next < equations.size()) {
    Equation e = equations[next++];
    std::size_t known = equal.size();
    work(e);
    if (equal.size() != known && !contradiction) { // what is known now may decide the earlier ones
      followSlices();
      followNumbers();
      for (std::size_t i = 0, n = next; i < n; ++i)
        addEquation(equations[i].poly, equations[i].lo, equations[i].hi);
    }
  }
}

bool PairSystem::isDecided() {
  return contradiction || isOneThread() ||
         std::any_of(separators.begin(), separators.end(), [&](Expr lock) { return isEqual(lock); });
}

bool PairSystem::provesApart() {
  if (!a.isPossible || !b.isPossible) return true;
  if (conditionsExclude()) return true;
  if (relation == Relation::SameWarp || relation == Relation::LanesApart) markEqual(kernel.warp);
  // A condition `x == y` that both threads satisfy, with y the same for both.
  std::unordered_set<Expr> equalities;
  for (auto& [c, poly] : a.facts.zero) equalities.insert(c);
  for (auto& [c, poly] : b.facts.zero) {
    if (!equalities.count(c)) continue;
    Expr x = c->operands[0], y = c->operands[1];
    if (!kernel.isPrivate(y, relation)) markEqual(x);
    if (!kernel.isPrivate(x, relation)) markEqual(y);
    addEquation(differenceOf(x) - differenceOf(y), 0, 0);
  }
  if (a.offset && b.offset) {
    if (a.mostBytes && b.mostBytes) {
      Poly distance = instance(a.offsetPoly, relation, 1) - instance(b.offsetPoly, relation, 2);
      addEquation(distance, 1 - *a.mostBytes, *b.mostBytes - 1);
    }
    bool fixedSizes = isConst(a.size) && isConst(b.size);
    if (!contradiction && !fixedSizes && offsetsApart()) return true;
  }
  workAll();
  if (isDecided() || factsContradict() || joinsWhatDiffers()) return true;
  constexpr int kMostRounds = 4;
  for (int round = 0; round < kMostRounds && deepen(); ++round) {
    workAll();
    if (isDecided() || factsContradict() || joinsWhatDiffers()) return true;
  }
  return false;
}

} // namespace kcheck::analyzer
