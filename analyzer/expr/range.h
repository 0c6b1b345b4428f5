// What values an expression can take: an interval of its signed reading and the bits that can be set. Sound
// for every execution without undefined behaviour; conditions that are known to hold narrow it further.
#pragma once

#include "analyzer/expr/expr.h"

#include <unordered_set>

namespace kcheck::analyzer {

struct Range {
  Int lo = 0, hi = 0;          ///< of the signed reading (width 1: 0 or 1)
  std::uint64_t maybe = ~0ull; ///< bits that can be 1, of the width's low bits

  bool isEmpty() const { return lo > hi; }
  bool isConstant() const { return lo == hi; }
};

/// The interval of the unsigned reading of values of `width` bits.
Range unsignedReading(const Range& range, unsigned width);

/// Ranges of the expressions of one context, memoised.
class Ranges {
public:
  enum class Wrapping : std::uint8_t {
    Exact, ///< arithmetic wraps unless flags or ranges exclude it
    /// Arithmetic of 32 and more bits that depends on sizes given at launch is taken not to wrap: a named
    /// assumption. Those nodes are collected in `assumed`, and so are sizes that are taken not to be
    /// negative.
    Assumed,
  };
  explicit Ranges(Wrapping wrapping = Wrapping::Exact) : wrapping(wrapping) {}

  Range of(Expr e);
  /// The interval of the unsigned reading.
  Range unsignedOf(Expr e) { return unsignedReading(of(e), e->width); }
  /// Whether the value of a sum, product, shift or truncation is the mathematical one.
  bool isExact(Expr e);
  /// Narrows by a condition that holds. False when no execution satisfies all that was assumed.
  bool assume(Expr condition);
  /// Where wrapping is assumed not to happen: sizes in what is read without sign are not negative, unless
  /// what was assumed before says so. Conditions that were assumed before may say more after it.
  void assumeSizes(Expr root);
  void assumeLength(Expr bytes) { ///< how much is copied or set at once
    if (wrapping == Wrapping::Assumed && bytes && bytes->op != Op::Const) assumeNotNegative(bytes);
  }
  bool isContradictory() const { return contradiction; }
  const std::unordered_set<Expr>& assumed() const { return assumedNodes; }
  /// Whether a sum, product or shift that is said not to leave its type does not by the ranges of its parts.
  bool staysWithin(Expr e);

private:
  Range compute(Expr e);
  Range arithmetic(Expr e);
  Range division(Expr e);
  Range shift(Expr e);
  Range bits(Expr e);
  Range comparison(Expr e);
  Range choice(Expr e);
  Range extension(Expr e);
  Range wrapped(Expr e, Int lo, Int hi, std::uint64_t maybe);
  Range mathematical(Expr e); ///< of Add, Mul or Shl without reduction
  bool mayAssume(Expr e);
  void assumeNotNegative(Expr e);
  void learn(Expr condition);
  void learnFromAlternatives(Expr condition);
  void learnBits(Expr masked, Expr value);
  void narrow(Expr e, Int lo, Int hi, unsigned depth);
  void narrowOperands(Expr e, Int lo, Int hi, unsigned depth);

  Wrapping wrapping;
  bool small = false; ///< sizes are small: to see whether an assumption is plausible
  bool contradiction = false;
  std::unordered_map<Expr, Range> memo, learned;
  std::unordered_set<Expr> assumedNodes, refused; ///< refused: shown to wrap always
  std::unique_ptr<Ranges> whenSmall;
};

/// A number that the launch gives: a parameter, or a fixed place of memory that no kernel writes.
bool isGiven(Expr e);

/// The same, or where a row begins, of rows that ascend.
bool isSize(Expr e);

/// Quotient towards minus infinity.
Int floorDivide(Int a, Int b);

} // namespace kcheck::analyzer
