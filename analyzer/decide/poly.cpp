// Polynomial arithmetic with bounded coefficients.
#include "analyzer/decide/poly.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {
/// Sums and products of what stays below this do not overflow Int.
constexpr Int kGreatest = Int(1) << 90;
} // namespace

Int gcd(Int a, Int b) {
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b) {
    Int t = a % b;
    a = b;
    b = t;
  }
  return a;
}

void Poly::add(const Monomial& monomial, Int coefficient) {
  if (coefficient == 0) return;
  auto [entry, isNew] = terms.try_emplace(monomial, coefficient);
  if (!isNew) entry->second += coefficient;
  if (entry->second > kGreatest || entry->second < -kGreatest) valid = false;
  if (entry->second == 0) terms.erase(entry);
}

void Poly::addSorted(Monomial monomial, Int coefficient) {
  std::sort(monomial.begin(), monomial.end());
  add(monomial, coefficient);
}

void Poly::add(const Poly& other, Int factor) {
  valid &= other.valid;
  if (factor > Int(1) << 64 || factor < -(Int(1) << 64)) valid = false;
  for (auto& [monomial, coefficient] : other.terms) {
    // A coefficient of up to 2^62 times a factor of up to 2^64 fits.
    if (coefficient > Int(1) << 62 || coefficient < -(Int(1) << 62))
      valid = valid && (factor == 1 || factor == -1);
    if (!valid) return;
    add(monomial, coefficient * factor);
  }
}

Poly Poly::scaled(Int factor) const {
  Poly result;
  result.add(*this, factor);
  return result;
}

bool Poly::multiply(const Poly& a, const Poly& b, Poly& result) {
  if (!a.valid || !b.valid || a.terms.size() * b.terms.size() > kMostTerms) return false;
  Poly product;
  for (auto& [m, k] : a.terms)
    for (auto& [n, l] : b.terms) {
      if (m.size() + n.size() > kMostFactors) return false;
      if (k > Int(1) << 62 || k < -(Int(1) << 62) || l > Int(1) << 62 || l < -(Int(1) << 62)) return false;
      Monomial both = m;
      both.insert(both.end(), n.begin(), n.end());
      product.addSorted(std::move(both), k * l);
    }
  if (!product.valid) return false;
  result = std::move(product);
  return true;
}

Int Poly::constant() const {
  auto found = terms.find({});
  return found == terms.end() ? Int(0) : found->second;
}

Int Poly::content() const {
  Int g = 0;
  for (auto& [monomial, coefficient] : terms)
    if (!monomial.empty()) g = gcd(g, coefficient);
  return g;
}

Poly operator-(const Poly& a, const Poly& b) {
  Poly result = a;
  result.add(b, -1);
  return result;
}

std::string toString(const Poly& p) {
  std::string text;
  for (auto& [monomial, coefficient] : p.terms) {
    text += (text.empty() ? "" : " + ") + std::to_string(std::int64_t(coefficient));
    for (const Atom& a : monomial)
      text += "*[" + toString(a.node, 6) + "]" + (a.thread ? "#" + std::to_string(int(a.thread)) : "");
  }
  return text.empty() ? "0" : text;
}

} // namespace kcheck::analyzer
