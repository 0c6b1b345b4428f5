// Narrowing of ranges by conditions that hold: bounds of a comparison move down into what is compared.
#include "analyzer/expr/fold.h"
#include "analyzer/expr/range.h"

#include <algorithm>

namespace kcheck::analyzer {

namespace {
constexpr unsigned kDepth = 8;
}

bool Ranges::assume(Expr condition) {
  std::vector<Expr> conjuncts = conjunctsOf(condition);
  for (int round = 0; round < 3 && !contradiction; ++round) {
    for (Expr c : conjuncts) {
      if (isFalse(c)) contradiction = true;
      if (!isConst(c)) learn(c);
    }
    memo.clear();
  }
  for (Expr c : conjuncts) {
    // The condition itself is not remembered as a fact, so that this can fail.
    if (of(c).hi == 0) contradiction = true;
  }
  return !contradiction;
}

bool isGiven(Expr e) {
  if (e->op == Op::Symbol) return e->symbol->kind == SymbolKind::Parameter;
  return e->op == Op::Apply && e->function->varies == Varies::Never && !e->operands.empty() &&
         std::all_of(e->operands.begin(), e->operands.end(), [](Expr o) { return isConst(o); });
}

bool isSize(Expr e) { return isGiven(e) || (e->op == Op::Apply && e->function->ascends); }

/// Where numbers are read without sign, the sizes among them are no negative ones, nor as large as these
/// would be: a named assumption. Without it `x < width` with an unsigned x bounds nothing.
void Ranges::assumeSizes(Expr root) {
  if (wrapping != Wrapping::Assumed || !root) return;
  std::vector<Expr> readUnsigned;
  anyNode(root, [&](Expr n) {
    const bool isUnsigned = n->op == Op::Ult || n->op == Op::Ule || n->op == Op::UDiv || n->op == Op::URem ||
                            n->op == Op::LShr || n->op == Op::ZExt;
    if (isUnsigned) readUnsigned.insert(readUnsigned.end(), n->operands.begin(), n->operands.end());
    return false;
  });
  for (Expr e : readUnsigned) assumeNotNegative(e);
}

void Ranges::assumeNotNegative(Expr e) {
  if (isSize(e)) {
    const Range r = of(e);
    if (e->width < 32 || r.lo >= 0 || r.hi <= 0) return;
    assumedNodes.insert(e);
    return narrow(e, 0, r.hi, 0);
  }
  switch (e->op) {
  case Op::Add:
  case Op::Mul:
  case Op::UDiv:
  case Op::SDiv:
  case Op::LShr:
  case Op::Shl:
  case Op::SExt:
  case Op::ZExt:
    for (Expr operand : e->operands) assumeNotNegative(operand);
    return;
  default: return;
  }
}

/// What every alternative of a disjunction says of a symbol.
void Ranges::learnFromAlternatives(Expr c) {
  constexpr std::size_t kMostAlternatives = 64;
  std::vector<Expr> alternatives, stack{c};
  while (!stack.empty()) {
    Expr e = stack.back();
    stack.pop_back();
    if (e->op == Op::Or && e->width == 1)
      stack.insert(stack.end(), e->operands.begin(), e->operands.end());
    else
      alternatives.push_back(e);
    if (alternatives.size() + stack.size() > kMostAlternatives) return;
  }
  // The symbols worth looking at: those that the first alternative compares with a constant.
  std::vector<Expr> symbols;
  for (Expr part : conjunctsOf(alternatives.back()))
    if (isComparison(part->op))
      for (Expr o : part->operands)
        if (o->op == Op::Symbol && o->width > 1) symbols.push_back(o);
  for (Expr symbol : symbols) {
    Range now = of(symbol), hull{now.hi, now.lo, ~0ull};
    bool any = false;
    for (Expr alternative : alternatives) {
      Range r = now;
      for (Expr part : conjunctsOf(alternative)) {
        if (!isComparison(part->op) || part->op == Op::Ult || part->op == Op::Ule) continue;
        Int strict = part->op == Op::Slt;
        Expr x = part->operands[0], y = part->operands[1];
        if (x == symbol && isConst(y)) {
          r.hi = std::min(r.hi, y->value - strict);
          if (part->op == Op::Eq) r.lo = std::max(r.lo, Int(y->value));
        } else if (y == symbol && isConst(x)) {
          r.lo = std::max(r.lo, x->value + strict);
        }
      }
      if (r.isEmpty()) continue;
      hull = any ? Range{std::min(hull.lo, r.lo), std::max(hull.hi, r.hi), ~0ull} : r;
      any = true;
    }
    if (any)
      narrow(symbol, hull.lo, hull.hi, 0);
    else
      contradiction = true;
  }
}

void Ranges::learn(Expr c) {
  if (c->op == Op::Or && c->width == 1) return learnFromAlternatives(c);
  bool isNegated = c->op == Op::Xor && c->width == 1 && isConst(c->operands[1], 1);
  if (isNegated) {
    Expr inner = c->operands[0];
    if (inner->op != Op::Eq || !isConst(inner->operands[1])) return;
    Expr x = inner->operands[0];
    Int v = inner->operands[1]->value; // x != v
    Range r = of(x);
    if (r.lo == v) narrow(x, v + 1, r.hi, kDepth);
    if (r.hi == v) narrow(x, r.lo, v - 1, kDepth);
    return;
  }
  if (!isComparison(c->op)) return;
  Expr x = c->operands[0], y = c->operands[1];
  Range a = of(x), b = of(y);
  Int strict = c->op == Op::Ult || c->op == Op::Slt;
  switch (c->op) {
  case Op::Eq:
    learnBits(x, y);
    narrow(x, b.lo, b.hi, kDepth);
    narrow(y, a.lo, a.hi, kDepth);
    return;
  case Op::Ult:
  case Op::Ule:
    if (b.lo >= 0) { // x is below a number without sign bit
      narrow(x, 0, b.hi - strict, kDepth);
      a = of(x);
    }
    if (a.lo >= 0 && b.lo >= 0) narrow(y, std::max(a.lo, Int(0)) + strict, b.hi, kDepth);
    return;
  default: narrow(x, a.lo, b.hi - strict, kDepth); narrow(y, a.lo + strict, b.hi, kDepth);
  }
}

/// x == y where x is a masked value or a remainder: bits that cannot be set.
void Ranges::learnBits(Expr x, Expr y) {
  if (!isConst(y) || x->operands.size() != 2 || !isConst(x->operands[1]) || x->width == 1) return;
  std::uint64_t constant = zeroExtend(x->operands[1]->value, x->width), zero = 0;
  if (x->op == Op::And)
    zero = constant & ~zeroExtend(y->value, x->width);
  else if ((x->op == Op::URem || x->op == Op::SRem) && y->value == 0 && constant != 0)
    zero = (constant & (0 - constant)) - 1; // a multiple of the constant's power of two
  if (zero == 0) return;
  Expr of = x->operands[0];
  Range now = this->of(of);
  auto [entry, isNew] = learned.try_emplace(of, Range{now.lo, now.hi, ~zero});
  if (!isNew) entry->second.maybe &= ~zero;
  auto cached = memo.find(of);
  if (cached != memo.end()) cached->second.maybe &= ~zero;
}

void Ranges::narrow(Expr e, Int lo, Int hi, unsigned depth) {
  if (e->op == Op::Const) {
    if (e->value < lo || e->value > hi) contradiction = true;
    return;
  }
  Range now = of(e);
  lo = std::max(lo, now.lo);
  hi = std::min(hi, now.hi);
  if (lo > hi) {
    contradiction = true;
    return;
  }
  if (lo == now.lo && hi == now.hi) return;
  auto [entry, isNew] = learned.try_emplace(e, Range{lo, hi, ~0ull});
  if (!isNew) {
    entry->second.lo = std::max(entry->second.lo, lo);
    entry->second.hi = std::min(entry->second.hi, hi);
  }
  auto cached = memo.find(e);
  if (cached != memo.end()) {
    cached->second.lo = lo;
    cached->second.hi = hi;
  }
  if (depth > 0) narrowOperands(e, lo, hi, depth - 1);
}

void Ranges::narrowOperands(Expr e, Int lo, Int hi, unsigned depth) {
  if (e->operands.empty() || e->width == 1) return;
  Expr x = e->operands[0], y = e->operands.size() > 1 ? e->operands[1] : nullptr;
  switch (e->op) {
  case Op::Add: {
    if (!isExact(e)) return;
    Range a = of(x), b = of(y);
    narrow(x, lo - b.hi, hi - b.lo, depth);
    a = of(x);
    narrow(y, lo - a.hi, hi - a.lo, depth);
    return;
  }
  case Op::Mul: {
    if (!isExact(e)) return;
    if (isConst(y) && y->value != 0) {
      Int k = y->value;
      if (k > 0)
        narrow(x, -floorDivide(-lo, k), floorDivide(hi, k), depth);
      else
        narrow(x, -floorDivide(hi, -k), floorDivide(-lo, -k), depth);
      return;
    }
    Range a = of(x), b = of(y);
    if (a.lo < 0 || b.lo < 0) return;
    if (b.lo >= 1) narrow(x, a.lo, hi / b.lo, depth);
    if (a.lo >= 1) narrow(y, b.lo, hi / a.lo, depth);
    return;
  }
  case Op::UDiv:
  case Op::SDiv:
  case Op::LShr:
  case Op::AShr: {
    if (!isConst(y) || y->value <= 0) return;
    bool isShift = e->op == Op::LShr || e->op == Op::AShr;
    if (isShift && y->value >= 62) return;
    const bool isSigned = e->op == Op::SDiv || e->op == Op::AShr;
    if (!isSigned && (lo < 0 || of(x).lo < 0)) return;
    Int divisor = isShift ? powerOfTwo(unsigned(y->value)) : Int(y->value);
    const bool isTowardsZero = e->op == Op::SDiv; // else down
    narrow(x, lo * divisor - (isTowardsZero && lo <= 0 ? divisor - 1 : 0),
           hi * divisor + (isTowardsZero && hi < 0 ? 0 : divisor - 1), depth);
    return;
  }
  case Op::ZExt:
    if (x->width > 1 && hi <= signedMax(x->width)) narrow(x, std::max(lo, Int(0)), hi, depth);
    return;
  case Op::SExt:
    if (x->width > 1) narrow(x, lo, hi, depth);
    return;
  case Op::Trunc:
    if (isExact(e)) narrow(x, lo, hi, depth);
    return;
  default: return;
  }
}

} // namespace kcheck::analyzer
