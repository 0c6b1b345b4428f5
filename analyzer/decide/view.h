// What the arithmetic deciders see of each access: the ranges, inequalities and offset that its path
// condition allows.
#pragma once

#include "analyzer/decide/linearizer.h"

#include <array>
#include <optional>

namespace kcheck::analyzer {

class Inequalities;

/// A condition as arithmetic sees it.
struct Facts {
  std::vector<Poly> nonNegative;           ///< each is >= 0
  std::vector<std::pair<Expr, Poly>> zero; ///< each is 0, with the condition that says so
  std::vector<Poly> nonZero;               ///< none is 0
  std::vector<Expr> uniform;               ///< conjuncts that are the same for all threads
};

/// One access, under one reading of the no-wrap question.
class AccessView {
public:
  AccessView(KernelView& kernel, Expr condition, Expr offset, Expr size, Ranges::Wrapping wrapping);

  Expr condition, offset, size;
  Ranges ranges;
  Linearizer linear;
  Facts facts;
  bool isPossible = true; ///< false: no thread ever satisfies the condition
  Poly offsetPoly;
  std::optional<Int> mostBytes; ///< upper bound of the size, where there is one
  unsigned align = 1;           ///< of the access; a power of two
  Poly sizePoly;

  /// What is known of values that are not negative. Holds references to the view.
  Inequalities inequalities();
  /// Whether what the condition says of one thread excludes itself.
  bool contradictsItself();
  /// Whether `quotient` is what `dividend / divisor` gives: written so, or `i / (a * b)` for `(i / a) / b`.
  bool isQuotientOf(Expr quotient, Expr dividend, Expr divisor);

private:
  /// The arms of a choice that is their minimum, or their maximum.
  struct Extremum {
    std::array<Poly, 2> arms;
    bool isLeast = false;
  };
  // condition_facts.cpp
  std::optional<Extremum> extremumOf(Expr choice);
  void collectFacts(KernelView& kernel);
  void collectSignedFacts(KernelView& kernel, const std::vector<Expr>& conjuncts);
  void collectUnsignedFacts(const std::vector<Expr>& conjuncts);
  void collectAlternatives(const std::vector<Expr>& conjuncts);
  // divisions.cpp
  void collectDivisionFacts(KernelView& kernel);
  void addRemainderFacts(Expr remainder, bool positiveDivisor, bool positiveDividend);
  void addQuotientFacts(Expr quotient);
  void addShiftFacts(Expr shifted);
  Poly putTogether(Poly p);
  bool putOneTogether(Poly& p);
};

bool isMultiple(const Poly& offset, std::int64_t bytes);
/// What the place is a multiple of by the way it is computed, of what the access's type asks for.
unsigned alignByPlace(AccessView& view, unsigned asked);

} // namespace kcheck::analyzer
