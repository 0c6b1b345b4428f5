// What the arithmetic deciders see: the kernel with what holds in all its executions, and each access with
// the ranges, inequalities and offset that its path condition allows.
#pragma once

#include "analyzer/decide/poly.h"
#include "analyzer/decide/races.h"
#include "analyzer/expr/range.h"

#include <array>
#include <optional>

namespace kcheck::analyzer {

/// A kernel model with derived facts, shared by all questions about it.
class KernelView {
public:
  KernelView(const KernelModel& model, ExprContext& context);

  const KernelModel& model;
  ExprContext& context;
  /// Width 1, true in every execution: those of the model, indices below their dimensions, blocks of at most
  /// 1024 threads.
  std::vector<Expr> facts;
  Expr facts1 = nullptr;       ///< all of them in one
  Expr linearThread = nullptr; ///< index of the thread in its block, 32 bit
  Expr warp = nullptr;         ///< of the thread in its block, 32 bit

  Varies variesOf(Expr e);
  /// Whether two threads so related can see different values.
  bool isPrivate(Expr e, Relation relation);

private:
  void addLaunchFacts();
  std::unordered_map<Expr, Varies> varies;
};

/// Turns expressions into polynomials as far as ranges show that nothing wraps. Atoms carry the Varies of
/// their node in place of a thread number.
class Linearizer {
public:
  Linearizer(KernelView& kernel, Ranges& ranges) : kernel(&kernel), ranges(&ranges) {}
  Poly of(Expr e);
  /// The unsigned reading of e.
  Poly ofUnsigned(Expr e);

private:
  Poly atom(Expr e);
  Poly compute(Expr e);
  Poly divided(Expr e);
  KernelView* kernel;
  Ranges* ranges;
  std::unordered_map<Expr, Poly> memo;
};

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
  Poly sizePoly;

  /// Whether `quotient` is what `dividend / divisor` gives: written so, or `i / (a * b)` for `(i / a) / b`.
  bool isQuotientOf(Expr quotient, Expr dividend, Expr divisor);

private:
  /// The arms of a choice that is their minimum, or their maximum.
  struct Extremum {
    std::array<Poly, 2> arms;
    bool isLeast = false;
  };
  std::optional<Extremum> extremumOf(Expr choice);
  void collectFacts(KernelView& kernel);
  void collectSignedFacts(KernelView& kernel, const std::vector<Expr>& conjuncts);
  void collectUnsignedFacts(const std::vector<Expr>& conjuncts);
  // divisions.cpp
  void collectDivisionFacts(KernelView& kernel);
  void addRemainderFacts(Expr remainder, bool positiveDivisor, bool positiveDividend);
  void addQuotientFacts(Expr quotient);
  void addShiftFacts(Expr shifted);
  void collectAlternatives(const std::vector<Expr>& conjuncts);
  Poly putTogether(Poly p);
  bool putOneTogether(Poly& p);
};

/// An AccessView's polynomial as thread `thread` of a pair so related has it.
Poly instance(const Poly& p, Relation relation, std::uint8_t thread);

} // namespace kcheck::analyzer
