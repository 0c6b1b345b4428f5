// Rewriting of conditions: boolean algebra (negations live at the leaves) and comparisons.
#include "analyzer/expr/fold.h"
#include "analyzer/expr/simplifier.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {
constexpr std::size_t kMostMembers = 32;

/// The operands of a chain of `op`, at most kMostMembers; longer chains keep their tail as one member.
std::vector<Expr> membersOf(Op op, Expr e) {
  std::vector<Expr> result, stack{e};
  while (!stack.empty()) {
    Expr n = stack.back();
    stack.pop_back();
    if (n->op == op && n->width == 1 && result.size() + stack.size() < kMostMembers) {
      stack.push_back(n->operands[1]);
      stack.push_back(n->operands[0]);
    } else if (std::find(result.begin(), result.end(), n) == result.end()) {
      result.push_back(n);
    }
  }
  return result;
}

bool contains(const std::vector<Expr>& list, Expr e) {
  return std::find(list.begin(), list.end(), e) != list.end();
}
} // namespace

Expr Simplifier::negate(Expr x) {
  auto inner = [](Expr n) { return n->width == 1 && (n->op == Op::And || n->op == Op::Or); };
  auto leaf = [&](Expr n) -> Expr {
    switch (n->op) {
    case Op::Const: return constant(1, !n->value);
    case Op::Xor:
      if (isConst(n->operands[1], 1)) return n->operands[0];
      break;
    case Op::Ult: return compare(Op::Ule, n->operands[1], n->operands[0]);
    case Op::Ule: return compare(Op::Ult, n->operands[1], n->operands[0]);
    case Op::Slt: return compare(Op::Sle, n->operands[1], n->operands[0]);
    case Op::Sle: return compare(Op::Slt, n->operands[1], n->operands[0]);
    default: break;
    }
    return table->intern(Op::Xor, 1, {n, constant(1, 1)});
  };
  bottomUp(
      x, [&](Expr n) { return n->width != 1 || negations.count(n) != 0; },
      [&](Expr n) {
        Expr opposite;
        if (inner(n))
          opposite = joined(n->op == Op::And ? Op::Or : Op::And, negations.at(n->operands[0]),
                            negations.at(n->operands[1]));
        else
          opposite = leaf(n);
        negations[n] = opposite;
        negations.try_emplace(opposite, n);
      });
  return negations.at(x);
}

bool Simplifier::areOpposite(Expr x, Expr y) {
  if (x->width != 1) return false;
  auto isInner = [](Expr n) { return n->op == Op::And || n->op == Op::Or; };
  if (isInner(x) != isInner(y)) return false;
  if (!isInner(x)) {
    if (x->op == Op::Xor || y->op == Op::Xor)
      return (x->op == Op::Xor && isConst(x->operands[1], 1) && x->operands[0] == y) ||
             (y->op == Op::Xor && isConst(y->operands[1], 1) && y->operands[0] == x);
    return isComparison(x->op) && isComparison(y->op) && x->op != Op::Eq && negate(x) == y;
  }
  auto found = negations.find(x);
  return found != negations.end() && found->second == y;
}

Expr Simplifier::logicOfNarrow(Op op, Expr x, Expr y) {
  switch (op) {
  case Op::Add: return logic(Op::Xor, x, y);
  case Op::Mul: return logic(Op::And, x, y);
  case Op::UDiv:
  case Op::SDiv: return logic(Op::Or, x, negate(y));
  case Op::URem:
  case Op::SRem:
  case Op::Shl:
  case Op::LShr: return logic(Op::And, x, negate(y));
  case Op::AShr: return x;
  default: return logic(op, x, y);
  }
}

Expr Simplifier::logic(Op op, Expr x, Expr y) {
  if (op != Op::Xor) return joined(op, x, y);
  if (isConst(x)) std::swap(x, y);
  if (isConst(y)) return y->value ? negate(x) : x;
  if (x == y) return constant(1, 0);
  if (areOpposite(x, y)) return constant(1, 1);
  return raw(Op::Xor, 1, x, y);
}

/// x && y, or x || y.
Expr Simplifier::joined(Op op, Expr x, Expr y) {
  Op dual = op == Op::And ? Op::Or : Op::And;
  Expr unit = constant(1, op == Op::And), zero = constant(1, op != Op::And);
  if (x == unit || y == zero || x == y) return y;
  if (y == unit || x == zero) return x;
  if (areOpposite(x, y)) return zero;
  std::vector<Expr> mine = membersOf(op, x), others = membersOf(op, y);
  std::vector<Expr> fresh;
  for (Expr m : others) {
    if (contains(mine, m)) continue;
    for (Expr n : mine)
      if (areOpposite(n, m)) return zero;
    fresh.push_back(m);
  }
  if (fresh.size() < others.size()) {
    for (Expr m : fresh) x = joined(op, x, m);
    return x;
  }
  // p && (p || q) is p; p && (!p || q) is p && q.
  for (int side = 0; side < 2; ++side) {
    Expr whole = side ? x : y, other = side ? y : x;
    const std::vector<Expr>& known = side ? others : mine;
    if (whole->op != dual) continue;
    std::vector<Expr> choices = membersOf(dual, whole), left;
    for (Expr m : choices) {
      if (contains(known, m)) return other;
      if (std::none_of(known.begin(), known.end(), [&](Expr n) { return areOpposite(n, m); }))
        left.push_back(m);
    }
    if (left.size() == choices.size()) continue;
    Expr rest = zero;
    for (Expr m : left) rest = joined(dual, rest, m);
    return joined(op, other, rest);
  }
  if (x->op == dual && y->op == dual)
    if (Expr shorter = factored(op, x, y)) return shorter;
  return raw(op, 1, x, y);
}

/// (c && p) || (c && q) -> c && (p || q), and (c && p) || (c && !p) -> c; of the dual form the latter only,
/// so that conjunctions stay conjunctions.
Expr Simplifier::factored(Op op, Expr x, Expr y) {
  Op dual = op == Op::And ? Op::Or : Op::And;
  std::vector<Expr> a = membersOf(dual, x), b = membersOf(dual, y), common, onlyA, onlyB;
  for (Expr m : a) (contains(b, m) ? common : onlyA).push_back(m);
  for (Expr m : b)
    if (!contains(a, m)) onlyB.push_back(m);
  if (common.empty()) return nullptr;
  Expr zero = constant(1, dual == Op::And); // the unit of dual
  auto all = [&](const std::vector<Expr>& list) {
    Expr r = zero;
    for (Expr m : list) r = joined(dual, r, m);
    return r;
  };
  if (onlyA.empty() || onlyB.empty()) return all(common);
  if (onlyA.size() == 1 && onlyB.size() == 1 && areOpposite(onlyA[0], onlyB[0])) return all(common);
  if (op == Op::And) return nullptr;
  return joined(dual, all(common), joined(op, all(onlyA), all(onlyB)));
}

Expr Simplifier::compare(Op op, Expr x, Expr y) {
  unsigned width = x->width;
  if (isConst(x) && isConst(y)) return constant(1, fold(op, width, x->value, y->value));
  if (x == y) return constant(1, op == Op::Eq || op == Op::Ule || op == Op::Sle);
  if (op == Op::Eq && isConst(x)) std::swap(x, y);
  if (width == 1) switch (op) {
    case Op::Eq: return negate(logic(Op::Xor, x, y));
    case Op::Ult: return logic(Op::And, negate(x), y);
    case Op::Ule: return logic(Op::Or, negate(x), y);
    case Op::Slt: return logic(Op::And, x, negate(y)); // a set bit is -1
    default: return logic(Op::Or, x, negate(y));
    }
  if (Expr parts = compareWithExtremum(op, x, y)) return parts;
  if (Expr pushed = pushIntoIte(op, x, y, NoFlags)) return pushed;
  if (Expr shorter = compareExtensions(op, x, y)) return shorter;
  if (op == Op::Eq) return equal(x, y);
  if (isConst(x) || isConst(y)) return compareWithConstant(op, x, y);
  return table->intern(op, 1, {x, y});
}

namespace {
/// e as the lesser or greater of two values, in the order that comparisons of this sign use.
struct Extremum {
  Expr first = nullptr, second = nullptr;
  bool isLesser = false;
};

Extremum extremumOf(Expr e, bool isSigned) {
  if (e->op != Op::Ite) return {};
  Expr test = e->operands[0], then = e->operands[1], otherwise = e->operands[2];
  bool fits =
      isSigned ? test->op == Op::Slt || test->op == Op::Sle : test->op == Op::Ult || test->op == Op::Ule;
  if (!fits) return {};
  Expr less = test->operands[0], more = test->operands[1];
  if (then == less && otherwise == more) return {less, more, true};
  if (then == more && otherwise == less) return {less, more, false};
  // `x <= 4` is kept as `x < 5`, so the constant chosen may be one off the constant compared with.
  auto beside = [&](Expr chosen, Expr compared, int step) {
    return isConst(chosen) && isConst(compared) && zeroExtend(compared->value, compared->width) != 0 &&
           compared->value == chosen->value - step && (step > 0) == (chosen->value > compared->value);
  };
  if (then == less && beside(otherwise, more, -1)) return {less, otherwise, true};
  if (otherwise == less && beside(then, more, -1)) return {less, then, false};
  if (otherwise == more && beside(then, less, 1)) return {then, more, true};
  if (then == more && beside(otherwise, less, 1)) return {otherwise, more, false};
  return {};
}
} // namespace

/// x < min(u, v) and max(u, v) < x as conjunctions; null when it is neither.
Expr Simplifier::compareWithExtremum(Op op, Expr x, Expr y) {
  if (op == Op::Eq) return nullptr;
  bool isSigned = op == Op::Slt || op == Op::Sle;
  if (Extremum least = extremumOf(y, isSigned); least.first && least.isLesser)
    return logic(Op::And, compare(op, x, least.first), compare(op, x, least.second));
  if (Extremum most = extremumOf(x, isSigned); most.first && !most.isLesser)
    return logic(Op::And, compare(op, most.first, y), compare(op, most.second, y));
  return nullptr;
}

/// Comparisons of extended values as comparisons of the values; null when it is none.
Expr Simplifier::compareExtensions(Op op, Expr x, Expr y) {
  bool isSigned = op == Op::Slt || op == Op::Sle;
  auto isExtended = [](Expr e) { return e->op == Op::ZExt || e->op == Op::SExt; };
  Op unsignedOp = op == Op::Slt ? Op::Ult : op == Op::Sle ? Op::Ule : op;
  if (isExtended(x) && x->op == y->op && x->operands[0]->width == y->operands[0]->width)
    return compare(x->op == Op::ZExt ? unsignedOp : op, x->operands[0], y->operands[0]);
  Expr extended = isExtended(x) ? x : y, other = isExtended(x) ? y : x;
  if (!isExtended(extended) || !isConst(other)) return nullptr;
  Expr inner = extended->operands[0];
  bool isZero = extended->op == Op::ZExt;
  if (!isZero && !isSigned && op != Op::Eq) return nullptr;
  // The constant against the range of the extended value, in the order that `op` compares.
  Int value = isSigned || op == Op::Eq ? Int(other->value) : Int(zeroExtend(other->value, other->width));
  Int lo = isZero ? Int(0) : signedMin(inner->width);
  Int hi = isZero ? powerOfTwo(inner->width) - 1 : signedMax(inner->width);
  if (value < lo || value > hi) {
    if (op == Op::Eq) return constant(1, 0);
    return constant(1, (extended == x) == (value > hi));
  }
  Expr narrow = constant(inner->width, other->value);
  Op narrowOp = isZero ? unsignedOp : op;
  return extended == x ? compare(narrowOp, inner, narrow) : compare(narrowOp, narrow, inner);
}

Expr Simplifier::compareWithConstant(Op op, Expr x, Expr y) {
  unsigned width = x->width;
  bool isSigned = op == Op::Slt || op == Op::Sle, strict = op == Op::Slt || op == Op::Ult;
  Int least = isSigned ? signedMin(width) : Int(0);
  Int greatest = isSigned ? signedMax(width) : powerOfTwo(width) - 1;
  Op strictOp = isSigned ? Op::Slt : Op::Ult;
  auto number = [&](Expr e) { return isSigned ? Int(e->value) : Int(zeroExtend(e->value, width)); };
  auto make = [&](Int v) { return constant(width, std::int64_t(v)); };
  if (isConst(y)) {
    Int c = number(y) + (strict ? 0 : 1); // x < c
    if (c > greatest) return constant(1, 1);
    if (c == least) return constant(1, 0);
    if (c == least + 1) return equal(x, make(least));
    return table->intern(strictOp, 1, {x, make(c)});
  }
  Int c = number(x) - (strict ? 0 : 1); // c < y
  if (c < least) return constant(1, 1);
  if (c == greatest) return constant(1, 0);
  if (c == greatest - 1) return equal(y, make(greatest));
  if (c == least) return negate(equal(y, make(least)));
  return table->intern(strictOp, 1, {make(c), y});
}

/// `(a ^ b) & 1`, `(a ^ b) % 2`: `a ^ b`. Else null.
static Expr parityOfXor(Expr x) {
  const bool isParity = (x->op == Op::And && isConst(x->operands[1], 1)) ||
                        ((x->op == Op::URem || x->op == Op::SRem) && isConst(x->operands[1], 2));
  if (!isParity || x->width < 2 || x->operands[0]->op != Op::Xor) return nullptr;
  Expr made = x->operands[0];
  return isConst(made->operands[0]) || isConst(made->operands[1]) ? nullptr : made;
}

Expr Simplifier::equal(Expr x, Expr y) {
  unsigned width = x->width;
  if (x == y) return constant(1, 1);
  if (isConst(y)) {
    std::uint64_t value = std::uint64_t(y->value);
    if (isConst(x)) return constant(1, x->value == y->value);
    if (x->op == Op::Add && isConst(x->operands[1]))
      return compare(Op::Eq, x->operands[0],
                     constant(width, std::int64_t(value - std::uint64_t(x->operands[1]->value))));
    if (x->op == Op::Mul && isConst(x->operands[1], -1))
      return compare(Op::Eq, x->operands[0], constant(width, std::int64_t(0 - value)));
    if (x->op == Op::Xor && isConst(x->operands[1]))
      return compare(Op::Eq, x->operands[0], constant(width, x->operands[1]->value ^ y->value));
    if (x->op == Op::And && isConst(x->operands[1]) && (y->value & ~x->operands[1]->value))
      return constant(1, 0);
    if (Expr both = value == 0 ? parityOfXor(x) : nullptr) { // both are even or both are odd
      Expr one = constant(width, 1);
      return compare(Op::Eq, bitAnd(both->operands[0], one), bitAnd(both->operands[1], one));
    }
    if (x->op == Op::Mul && isConst(x->operands[1])) {
      std::uint64_t factor = zeroExtend(x->operands[1]->value, width), low = factor & (0 - factor);
      if (zeroExtend(y->value, width) & (low - 1)) return constant(1, 0);
    }
    return table->intern(Op::Eq, 1, {x, y});
  }
  if (x->op == Op::Add || y->op == Op::Add || x->op == Op::Mul || y->op == Op::Mul) {
    LinearSum sum;
    collect(x, 1, sum);
    collect(y, ~std::uint64_t(0), sum);
    sum.allNoWrap = false;
    std::vector<std::pair<Expr, std::int64_t>> left;
    for (auto& [term, coefficient] : sum.terms)
      if (std::int64_t k = signExtend(std::int64_t(coefficient), width)) left.emplace_back(term, k);
    std::size_t constants = signExtend(std::int64_t(sum.constant), width) != 0;
    if (sum.complete && left.size() + constants < sum.leaves) {
      Expr minus = constant(width, std::int64_t(0 - sum.constant));
      if (left.empty()) return constant(1, isConst(minus, 0));
      if (left.size() == 2 && left[0].second * left[1].second == -1) {
        Expr plus = left[0].second == 1 ? left[0].first : left[1].first;
        Expr other = left[0].second == 1 ? left[1].first : left[0].first;
        if (isConst(minus, 0)) return compare(Op::Eq, plus, other);
        Expr shifted = table->intern(Op::Add, width, {other, minus});
        return raw(Op::Eq, 1, plus, shifted);
      }
      sum.constant = 0;
      return compare(Op::Eq, sumOf(sum, width), minus);
    }
  }
  return raw(Op::Eq, 1, x, y);
}

} // namespace kcheck::analyzer
