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

/// What both threads say of a number that they share, together: `x + 16 * b < h` of both is the only way from
/// `x#1 + x#2 + 32 * b` to `2 * h`.
void PairSystem::addUpFacts() {
  constexpr std::size_t kMost = 8;
  sums.clear();
  for (const Poly& f : a.facts.nonNegative) {
    if (sums.size() == kMost) return;
    const bool isOfBoth = std::any_of(b.facts.nonNegative.begin(), b.facts.nonNegative.end(),
                                      [&](const Poly& g) { return f.terms == g.terms; });
    if (!isOfBoth || !f.valid) continue;
    const Poly first = canonical(instance(f, relation, 1)), second = canonical(instance(f, relation, 2));
    std::size_t common = 0;
    for (auto& [monomial, coefficient] : first.terms)
      common += !monomial.empty() && second.terms.count(monomial) != 0;
    if (first.terms == second.terms || common < 2) continue;
    sums.push_back(first - second.scaled(-1));
  }
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
    addUpFacts();
    factsStale = false;
  }
  const auto range = [this](const Atom& atom) { return rangeOf(atom); };
  if (inequalities(range, facts).provesNonNegative(p)) return true;
  if (sums.empty()) return false;
  std::vector<const Poly*> known; // not at once: among more facts the short search may miss the way
  for (const std::vector<Poly>* some : {&facts, &sums})
    for (const Poly& f : *some) known.push_back(&f);
  return Inequalities(range, std::move(known)).provesNonNegative(p);
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

/// The equations between the two threads, each as two inequalities, and behind them what the conditions say.
/// `linked` are the atoms of the equations; `isAny`: of those within one thread too.
std::vector<Poly> PairSystem::equationsAndFacts(std::set<Atom>& linked, bool isAny, std::size_t& equalities) {
  std::vector<Poly> known;
  for (const Equation& e : equations) {
    if (e.lo != e.hi) continue;
    Poly p = canonical(e.poly);
    if (!p.valid || p.terms.size() > 4) continue;
    p.add(Monomial{}, -e.lo);
    bool crosses[3] = {};
    for (auto& [monomial, coefficient] : p.terms)
      for (const Atom& atom : monomial) crosses[atom.thread] = true;
    if (!isAny && (!crosses[1] || !crosses[2])) continue;
    for (auto& [monomial, coefficient] : p.terms) linked.insert(monomial.begin(), monomial.end());
    known.push_back(p.scaled(-1));
    known.push_back(std::move(p));
  }
  equalities = known.size();
  proves(Poly{}); // brings the facts up to date
  known.insert(known.end(), facts.begin(), facts.end());
  return known;
}

static bool speaksOf(const Poly& p, const std::set<Atom>& linked) {
  return std::any_of(p.terms.begin(), p.terms.end(), [&](const auto& term) {
    return std::any_of(term.first.begin(), term.first.end(),
                       [&](const Atom& atom) { return linked.count(atom) != 0; });
  });
}

/// Whether the equations make some inequality of a condition fail: `c#1 == r#2` and `r#1 == c#2` where both
/// threads have c < r.
bool PairSystem::factsContradict() {
  constexpr std::size_t kMostTries = 24;
  std::set<Atom> linked;
  std::size_t equalities = 0, tries = 0;
  const std::vector<Poly> known = equationsAndFacts(linked, false, equalities);
  if (equalities == 0) return false;
  Inequalities all = inequalities([this](const Atom& atom) { return rangeOf(atom); }, known);
  for (std::size_t i = equalities; i < known.size() && tries < kMostTries; ++i) {
    if (!speaksOf(known[i], linked)) continue;
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
  std::set<Atom> linked;
  std::size_t equalities = 0, tries = 0;
  const std::vector<Poly> known = equationsAndFacts(linked, true, equalities);
  Inequalities all = inequalities([this](const Atom& atom) { return rangeOf(atom); }, known);
  for (const Poly& p : differ) {
    if (p.isConstant() && p.constant() == 0) return true;
    if (!speaksOf(p, linked) || tries++ == kMostTries) continue;
    if (all.provesNonNegative(p) && all.provesNonNegative(p.scaled(-1))) return true;
  }
  return false;
}

/// Indices that equations and inequalities hold together from both sides: `c#1 == r#2` and `r#1 == c#2` where
/// both threads have c <= r. True where these are all that tell the threads apart.
bool PairSystem::joinsIndices() {
  std::set<Atom> linked;
  std::size_t equalities = 0;
  const std::vector<Poly> known = equationsAndFacts(linked, false, equalities);
  if (equalities == 0) return false;
  Inequalities all = inequalities([this](const Atom& atom) { return rangeOf(atom); }, known);
  for (int i = 0; i < 3; ++i) {
    Expr index = relation == Relation::DifferentBlocks ? kernel.model.blockIdx[i] : kernel.model.threadIdx[i];
    if (!index || isEqual(index)) continue;
    const Poly difference = canonical(differenceOf(index));
    if (!difference.valid || !speaksOf(difference, linked) || !all.provesNonNegative(difference) ||
        !all.provesNonNegative(difference.scaled(-1)))
      return false;
    markEqual(index);
  }
  return isDecided();
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
      const Int align = std::min(a.align, b.align); // the distance is a multiple of it
      addEquation(distance, (1 - *a.mostBytes) / align * align, (*b.mostBytes - 1) / align * align);
    }
    bool fixedSizes = isConst(a.size) && isConst(b.size);
    if (!contradiction && !fixedSizes && offsetsApart()) return true;
  }
  workAll();
  if (isDecided() || factsContradict() || joinsWhatDiffers() || joinsIndices()) return true;
  constexpr int kMostRounds = 4;
  for (int round = 0; round < kMostRounds && deepen(); ++round) {
    workAll();
    if (isDecided() || factsContradict() || joinsWhatDiffers() || joinsIndices()) return true;
  }
  return false;
}

} // namespace kcheck::analyzer
