// Rows one behind the other whose lengths grow or shrink evenly: `r * (r + 1) / 2 + c` with `c <= r`,
// `i * (2 * n - i - 1) / 2 + j`. Where row x begins at T(x), and T(x + 1) - T(x) = s(x) is linear in x,
// places T(x) + w with 0 <= w < s(x) are of one row only: between two rows that have such places every s is
// at least one of theirs, so the later row begins no earlier than where the first one ends.
#include "analyzer/decide/overlap.h"

#include <algorithm>
#include <array>

namespace kcheck::analyzer {

/// x * (a * x + b) / 2, which is whole for every integer x.
struct PairSystem::Triangle {
  Poly row, more; ///< x and b
  Int growth = 0; ///< a
};

namespace {

bool isHalf(Expr e) {
  if (e->op == Op::SDiv || e->op == Op::UDiv) return isConst(e->operands[1], 2);
  return (e->op == Op::AShr || e->op == Op::LShr) && isConst(e->operands[1], 1);
}

/// All coefficients but the constant one, and that with `more` added to it.
bool isEven(const Poly& p, Int more) {
  return (p.constant() + more) % 2 == 0 && std::ranges::all_of(p.terms, [](const auto& term) {
           return term.first.empty() || term.second % 2 == 0;
         });
}

bool isCommon(const Monomial& monomial) {
  return std::ranges::all_of(monomial, [](const Atom& atom) { return atom.thread == 0; });
}

bool isCommon(const Poly& p) {
  return std::ranges::all_of(p.terms, [](const auto& term) { return isCommon(term.first); });
}

/// What of p is a multiple of x by something that both threads have.
Poly multipleOf(const Poly& p, const Poly& x) {
  Poly result;
  for (auto& [monomial, coefficient] : x.terms) {
    if (monomial.size() != 1) continue;
    for (auto& [whole, factor] : p.terms) {
      Monomial rest = whole;
      auto at = std::find(rest.begin(), rest.end(), monomial.front());
      if (at == rest.end() || factor % coefficient != 0) continue;
      rest.erase(at);
      if (isCommon(rest)) result.add(rest, factor / coefficient);
    }
    break;
  }
  return result;
}

} // namespace

/// A quotient of one thread. Nothing where it is of something else, or where the product may have wrapped.
std::optional<PairSystem::Triangle> PairSystem::triangleOf(const Atom& atom, AccessView& view,
                                                           const std::function<Poly(Expr)>& polyOf) {
  Expr e = atom.node;
  if (e->op == Op::ZExt || e->op == Op::SExt) e = e->operands[0];
  if (!isHalf(e) || e->operands[0]->op != Op::Mul) return {};
  Expr product = e->operands[0];
  const bool isUnsigned = e->op == Op::UDiv || e->op == Op::LShr || atom.node->op == Op::ZExt;
  if (!view.ranges.isExact(product) || (isUnsigned && view.ranges.of(product).lo < 0)) return {};
  for (std::size_t i : {0u, 1u}) {
    const Poly x = polyOf(product->operands[i]), y = polyOf(product->operands[1 - i]);
    if (!x.valid || !y.valid) continue;
    for (auto& [monomial, coefficient] : x.terms) {
      if (monomial.empty()) continue;
      auto other = y.terms.find(monomial);
      if (other == y.terms.end() || other->second % coefficient != 0) break;
      Triangle result{x, y, other->second / coefficient};
      result.more.add(x, -result.growth);
      if (result.more.valid && isCommon(result.more) && isEven(result.more, result.growth)) return result;
      break;
    }
  }
  return {};
}

/// Two places in such rows that have a byte in common are of one row.
void PairSystem::compareTriangles() {
  if (!a.offset || !b.offset || !a.mostBytes || !b.mostBytes) return;
  constexpr std::size_t kMostTries = 4;
  std::size_t tries = 0;
  const Poly places[] = {canonical(instance(a.offsetPoly, relation, 1)),
                         canonical(instance(b.offsetPoly, relation, 2))};
  if (!places[0].valid || !places[1].valid) return;
  auto triangleIn = [&](const Monomial& monomial, AccessView& view, std::uint8_t thread) {
    if (monomial.size() != 1 || monomial.front().thread != thread) return std::optional<Triangle>();
    return triangleOf(monomial.front(), view,
                      [&](Expr e) { return canonical(instance(view.linear.of(e), relation, thread)); });
  };
  for (auto& [mine, scale] : places[0].terms) {
    const auto first = triangleIn(mine, a, 1);
    if (!first) continue;
    for (auto& [other, factor] : places[1].terms) {
      const auto second = factor == scale ? triangleIn(other, b, 2) : std::nullopt;
      if (!second || second->growth != first->growth || !(second->more - first->more).terms.empty()) continue;
      Poly rest[] = {places[0], places[1]};
      rest[0].add(mine, -scale);
      rest[1].add(other, -scale);
      if (tries++ == kMostTries) return;
      if (liesInRows(*first, *second, scale, rest)) return addEquation(first->row - second->row, 0, 0);
    }
  }
}

/// Row x begins at scale * x * (a * x + b) / 2, or at a multiple of x from there (`n * i - i * (i + 1) / 2`),
/// all of them so many bytes further.
bool PairSystem::liesInRows(const Triangle& first, const Triangle& second, Int scale, const Poly (&rest)[2]) {
  Poly half; // the next one begins a * x + (a + b) / 2 later
  for (auto& [monomial, coefficient] : first.more.terms)
    if (!monomial.empty()) half.add(monomial, coefficient / 2);
  half.add(Monomial{}, (first.more.constant() + first.growth) / 2);
  std::vector<Poly> multiples;
  for (const Poly& one : {Poly(0), multipleOf(rest[0], first.row)})
    for (Int more : {Int(0), scale, -scale}) {
      Poly multiple = one;
      multiple.add(Monomial{}, more);
      const bool isKnown =
          std::ranges::any_of(multiples, [&](const Poly& known) { return (known - multiple).terms.empty(); });
      if (!isKnown && multiple.valid) multiples.push_back(std::move(multiple));
    }
  auto isWithin = [&](const Poly& row, const Poly& place, const Poly& multiple, Int shift, Int bytes) {
    Poly steps = row, begin;
    steps.add(Monomial{}, -row.constant());
    if (!Poly::multiply(multiple, steps, begin)) return false;
    Poly within = place - begin;
    within.add(Monomial{}, -shift);
    Poly left = row.scaled(first.growth);
    left.add(half);
    left = left.scaled(scale);
    left.add(multiple);
    left.add(within, -1);
    left.add(Monomial{}, -bytes);
    return within.valid && left.valid && proves(canonical(within)) && proves(canonical(left));
  };
  return std::ranges::any_of(multiples, [&](const Poly& multiple) {
    return std::ranges::any_of(std::array{Int(0), scale, -scale}, [&](Int shift) {
      return isWithin(first.row, rest[0], multiple, shift, *a.mostBytes) &&
             isWithin(second.row, rest[1], multiple, shift, *b.mostBytes);
    });
  });
}

} // namespace kcheck::analyzer
