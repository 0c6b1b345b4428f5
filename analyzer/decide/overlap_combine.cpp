// What several equations say together: for pairs that the work list alone leaves open.
#include "analyzer/decide/overlap.h"

#include "analyzer/expr/fold.h"

#include <algorithm>
#include <cstdlib>

namespace kcheck::analyzer {

namespace {

/// A condition that says which remainder a number leaves: value = remainder (mod modulus).
struct Remainder {
  Expr value = nullptr;
  Int modulus = 0, remainder = 0;
};

/// The remainder of `e` that equals a constant; a modulus of 0 where it is none.
Remainder remainderOf(Expr e, Int is, Ranges& ranges) {
  constexpr Int kGreatest = 4096;
  if (e->op == Op::ZExt && e->width > 1) return remainderOf(e->operands[0], is, ranges);
  if (e->op == Op::Trunc && e->width == 1) return {e->operands[0], 2, is};
  if (e->operands.size() != 2 || !isConst(e->operands[1])) return {};
  const Int by = e->operands[1]->value;
  if (e->op == Op::And && e->width > 1 && by > 0 && by < kGreatest && isPowerOfTwo(std::uint64_t(by) + 1))
    return {e->operands[0], by + 1, is};
  const bool isRemainder = e->op == Op::URem || e->op == Op::SRem;
  if (isRemainder && by > 0 && by <= kGreatest && (ranges.of(e->operands[0]).lo >= 0 || is == 0))
    return e->op == Op::SRem || ranges.of(e->operands[0]).lo >= 0 ? Remainder{e->operands[0], by, is}
                                                                  : Remainder{};
  return {};
}

std::vector<Remainder> remaindersOf(AccessView& view) {
  constexpr std::size_t kMost = 4;
  std::vector<Remainder> result;
  for (Expr c : conjunctsOf(view.condition)) {
    const bool isNegated = c->op == Op::Xor && c->width == 1 && isConst(c->operands[1], 1);
    Expr equation = isNegated ? c->operands[0] : c;
    Remainder found;
    if (equation->op == Op::Trunc && equation->width == 1) {
      found = remainderOf(equation, isNegated ? 0 : 1, view.ranges);
    } else if (equation->op == Op::Eq && isConst(equation->operands[1])) {
      const Int is = equation->operands[1]->value;
      found = remainderOf(equation->operands[0], is, view.ranges);
      if (isNegated && (found.modulus != 2 || is < 0 || is > 1)) found = {};
      if (isNegated) found.remainder = 1 - is;
    }
    if (found.modulus > 1 && found.value->width > 1 && result.size() < kMost) result.push_back(found);
  }
  return result;
}

} // namespace

/// `difference` is a multiple of the modulus: of which one, is a number of its own.
void PairSystem::addCongruence(Poly difference, Int modulus) {
  constexpr std::size_t kMostSummands = 12;
  constexpr unsigned kMost = 8;
  constexpr Int kGreatest = 4096, kManifold = Int(1) << 61;
  difference = canonical(difference);
  if (!difference.valid || difference.terms.size() > kMostSummands || modulus > kGreatest) return;
  if (multiples == kMost) return;
  const std::string name = "multiple " + std::to_string(multiples++);
  Expr factor =
      kernel.context.of(kernel.context.symbol(name, 64, SymbolKind::Unknown, -kManifold, kManifold));
  difference.add(Monomial{Atom{factor, 0}}, -modulus);
  addEquation(std::move(difference), 0, 0);
}

/// What the conditions say of remainders by one number: `x % 2 == 0` for the one, `y % 2 == 1` for the other.
void PairSystem::compareRemainders() {
  const std::vector<Remainder> theirs = remaindersOf(b);
  for (const Remainder& x : remaindersOf(a))
    for (const Remainder& y : theirs) {
      if (x.modulus != y.modulus) continue;
      Poly difference =
          instance(a.linear.of(x.value), relation, 1) - instance(b.linear.of(y.value), relation, 2);
      difference.add(Monomial{}, y.remainder - x.remainder);
      addCongruence(std::move(difference), x.modulus);
    }
  for (auto& [difference, modulus] : congruences) addCongruence(difference, modulus);
  congruences.clear();
}

/// Sums of two equations in which less is left than in one of them.
void PairSystem::combine() {
  constexpr std::size_t kMostSummands = 20, kMostEquationsLooked = 40;
  std::vector<Poly> exact;
  for (const Equation& e : equations) {
    if (e.lo != e.hi || exact.size() == kMostEquationsLooked) continue;
    Poly p = canonical(e.poly);
    if (!p.valid || p.terms.size() > kMostSummands) continue;
    p.add(Monomial{}, -e.lo);
    if (!p.isConstant()) exact.push_back(std::move(p));
  }
  for (std::size_t i = 0; i < exact.size(); ++i)
    for (std::size_t j = i + 1; j < exact.size() && !contradiction; ++j)
      for (auto& [monomial, coefficient] : exact[i].terms) {
        auto other = exact[j].terms.find(monomial);
        if (monomial.empty() || other == exact[j].terms.end()) continue;
        const Int g = gcd(coefficient, other->second);
        Poly sum = exact[i].scaled(other->second / g);
        sum.add(exact[j], -coefficient / g);
        if (sum.valid && sum.terms.size() < std::max(exact[i].terms.size(), exact[j].terms.size()))
          addEquation(std::move(sum), 0, 0);
      }
}

/// Rows of a constant length whose columns are bounded together: `row * 2049 + (row + i)` with `row + i <
/// 2049`.
void PairSystem::splitAtConstants() {
  constexpr std::size_t kMostRadices = 8, kMostSummands = 20;
  constexpr Int kLeast = 4;
  std::vector<Int> radices;
  auto addRadix = [&](Int radix) {
    if (radix < 0) radix = -radix;
    if (radix < kLeast || radix > Int(1) << 40 || radices.size() == kMostRadices) return;
    if (std::find(radices.begin(), radices.end(), radix) == radices.end()) radices.push_back(radix);
  };
  for (const AccessView* view : {&a, &b})
    for (Expr c : conjunctsOf(view->condition))
      if (isComparison(c->op))
        for (Expr o : c->operands)
          if (isConst(o) && o->width > 1) addRadix(o->value);
  const std::size_t fromConditions = radices.size();
  for (std::size_t i = 0, n = equations.size(); i < n && !contradiction; ++i) {
    const Equation e = equations[i];
    const Poly p = canonical(e.poly);
    if (!p.valid || p.terms.size() > kMostSummands || p.isConstant()) continue;
    radices.resize(fromConditions);
    for (auto& [monomial, coefficient] : p.terms)
      if (!monomial.empty()) addRadix(coefficient);
    for (Int radix : radices) {
      Poly high, low;
      for (auto& [monomial, coefficient] : p.terms) {
        const Int most = floorDivide(coefficient + radix / 2, radix); // the nearest multiple
        high.add(monomial, most);
        low.add(monomial, coefficient - most * radix);
      }
      if (high.isConstant() || low.terms.empty()) continue;
      if (splitInto(Poly(radix), high, low, e.lo, e.hi) || contradiction) break;
    }
  }
}

static Expr roomOf(const Monomial& monomial, std::uint8_t thread) {
  if (monomial.size() != 1 || monomial.front().thread != thread) return nullptr;
  Expr e = monomial.front().node;
  if (e->op == Op::ZExt) e = e->operands[0];
  return e->op == Op::Apply && e->function->isRoom ? e : nullptr;
}

/// `room + i` is the same for both, and i is within the room for each: then the room is the same.
void PairSystem::compareRooms(const Poly& p) {
  const Monomial *mine = nullptr, *other = nullptr;
  for (auto& [monomial, coefficient] : p.terms) {
    if (roomOf(monomial, 1)) mine = &monomial;
    if (roomOf(monomial, 2)) other = &monomial;
  }
  if (!mine || !other) return;
  const Int scale = p.terms.at(*mine);
  if ((scale != 1 && scale != -1) || p.terms.at(*other) != -scale) return;
  Poly within[2];
  for (auto& [monomial, coefficient] : p.terms) {
    if (&monomial == mine || &monomial == other) continue;
    const bool isTheirs =
        std::any_of(monomial.begin(), monomial.end(), [](const Atom& atom) { return atom.thread == 2; });
    within[isTheirs].add(monomial, isTheirs ? -coefficient * scale : coefficient * scale);
  }
  Expr first = roomOf(*mine, 1), second = roomOf(*other, 2);
  if (first->function != second->function) return;
  const unsigned keys = first->function->keys; // of one counter
  for (unsigned i = 0; i < keys; ++i)
    if (first->operands[i] != second->operands[i] || !isEqual(first->operands[i])) return;
  const Poly sizes[2] = {instance(a.linear.of(first->operands.back()), relation, 1),
                         instance(b.linear.of(second->operands.back()), relation, 2)};
  for (int i : {0, 1}) {
    Poly left = canonical(sizes[i]) - within[i];
    left.add(Monomial{}, -1);
    if (!proves(within[i]) || !proves(left)) return;
  }
  if (first != second) { // at two places of the program, of which the first operand tells
    contradiction = contradiction || (isConst(first->operands[keys]) && isConst(second->operands[keys]) &&
                                      first->operands[keys] != second->operands[keys]);
    return;
  }
  for (Expr operand : first->operands) markEqual(operand);
  addEquation(within[0] - within[1], 0, 0);
}

void PairSystem::compareRooms() {
  for (std::size_t i = 0, n = equations.size(); i < n && !contradiction; ++i) {
    if (equations[i].lo != equations[i].hi) continue;
    Poly p = canonical(equations[i].poly);
    p.add(Monomial{}, -equations[i].lo);
    if (p.valid) compareRooms(p);
  }
}

bool PairSystem::deepen() {
  constexpr std::size_t kMostEquations = 120;
  mostEquations = kMostEquations;
  const std::size_t known = equations.size(), same = equal.size();
  if (known == 0) return false;
  compareRooms();
  if (!contradiction) compareTriangles();
  if (isDecided()) return true;
  compareRemainders();
  combine();
  if (!contradiction) splitAtConstants();
  return contradiction || equations.size() != known || equal.size() != same;
}

bool PairSystem::provesApartInOrder() {
  Expr order = kernel.linearThread; // no two threads of a block have the same
  if (relation == Relation::DifferentBlocks) {
    order = nullptr;
    for (Expr index : kernel.model.blockIdx) {
      if (!index || isConst(index)) continue;
      if (order) return false;
      order = index;
    }
    if (!order) return false;
  }
  const Poly index = a.linear.of(order);
  const Poly distance = instance(index, relation, 1) - instance(index, relation, 2);
  const bool isSymmetric = a.condition == b.condition && a.offset == b.offset && a.size == b.size;
  for (Int sign : {1, -1}) {
    PairSystem ordered(kernel, a, b, relation);
    ordered.separators = separators;
    ordered.given.push_back(distance.scaled(sign));
    ordered.given.back().add(Monomial{}, -1);
    if (!ordered.provesApart()) return false;
    if (isSymmetric) return true;
  }
  return true;
}

} // namespace kcheck::analyzer
