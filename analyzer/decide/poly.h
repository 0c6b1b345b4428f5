// Polynomials with integer coefficients over atoms: the mathematical value of an index, once it is known that
// nothing wraps. Index arithmetic with symbolic sizes (`row * pitch + column`) is linear in these.
#pragma once

#include "analyzer/expr/expr.h"

#include <map>

namespace kcheck::analyzer {

/// An expression that arithmetic does not look into, as one of the two threads sees it. `thread` is 0 where
/// both see the same value, else 1 or 2.
struct Atom {
  Expr node = nullptr;
  std::uint8_t thread = 0;
  friend bool operator==(const Atom&, const Atom&) = default;
  friend bool operator<(const Atom& a, const Atom& b) {
    return a.node->id != b.node->id ? a.node->id < b.node->id : a.thread < b.thread;
  }
};

using Monomial = std::vector<Atom>; ///< sorted; empty for the constant

class Poly {
public:
  Poly() = default;
  explicit Poly(Int constant) { add(Monomial{}, constant); }
  explicit Poly(Atom atom) { add(Monomial{atom}, 1); }

  void add(const Monomial& monomial, Int coefficient);
  void add(const Poly& other, Int factor = 1);
  Poly scaled(Int factor) const;
  /// The product, or nothing when it would be of more than `kMostTerms` terms or too high a degree.
  static bool multiply(const Poly& a, const Poly& b, Poly& result);
  /// The same polynomial with every atom replaced.
  template <typename Map> Poly mapped(Map&& map) const {
    Poly result;
    for (auto& [monomial, coefficient] : terms) {
      Monomial m;
      for (const Atom& a : monomial) m.push_back(map(a));
      result.addSorted(std::move(m), coefficient);
    }
    result.valid = valid;
    return result;
  }

  Int constant() const;
  bool isConstant() const { return terms.empty() || (terms.size() == 1 && terms.begin()->first.empty()); }
  /// Greatest common divisor of the coefficients, the constant left out; 0 for a constant.
  Int content() const;

  std::map<Monomial, Int> terms;
  bool valid = true; ///< false: a coefficient grew beyond reason; nothing may be concluded

  static constexpr std::size_t kMostTerms = 48, kMostFactors = 5;

private:
  void addSorted(Monomial monomial, Int coefficient);
};

Poly operator-(const Poly& a, const Poly& b);
Int gcd(Int a, Int b);
std::string toString(const Poly& p);

} // namespace kcheck::analyzer
