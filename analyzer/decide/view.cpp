// Kernel facts, linear forms and the arithmetic content of path conditions.
#include "analyzer/decide/view.h"

#include "analyzer/decide/inequality.h"

#include "analyzer/expr/fold.h"

#include <algorithm>

namespace kcheck::analyzer {

const char* toString(Relation relation) {
  switch (relation) {
  case Relation::SameWarp: return "threads of one warp";
  case Relation::DifferentWarps: return "threads of different warps";
  case Relation::SameBlock: return "threads of one block";
  case Relation::SameGroup: return "threads that come to the same named barriers";
  case Relation::GroupsApart: return "threads that come to different named barriers";
  case Relation::LanesApart: return "lanes of one warp that no barrier names together";
  default: return "threads of different blocks";
  }
}

KernelView::KernelView(const KernelModel& model, ExprContext& context) : model(model), context(context) {
  facts = model.facts;
  addLaunchFacts();
  facts1 = context.boolean(true);
  for (Expr f : facts) facts1 = context.logicalAnd(facts1, f);
}

void KernelView::addLaunchFacts() {
  ExprContext& c = context;
  auto addFact = [&](Expr f) {
    if (!isTrue(f)) facts.push_back(f);
  };
  Expr zero = c.constant(32, 0), one = c.constant(32, 1);
  Expr tid[3], dim[3];
  unsigned freeDimensions = 0;
  for (int i = 0; i < 3; ++i) {
    tid[i] = model.threadIdx[i] ? model.threadIdx[i] : zero;
    dim[i] = model.blockDim[i] ? model.blockDim[i] : one;
    Expr bid = model.blockIdx[i] ? model.blockIdx[i] : zero, grid = model.gridDim[i] ? model.gridDim[i] : one;
    addFact(c.binary(Op::Slt, tid[i], dim[i]));
    addFact(c.binary(Op::Slt, bid, grid));
    freeDimensions += !isConst(dim[i]);
  }
  // A block has at most 1024 threads, so the index of a thread in its block never wraps.
  std::uint8_t flags = NoSignedWrap | NoUnsignedWrap;
  linearThread =
      c.add(tid[0], c.mul(dim[0], c.add(tid[1], c.mul(dim[1], tid[2], flags), flags), flags), flags);
  warp = c.binary(Op::LShr, linearThread, c.constant(32, 5));
  bool several = freeDimensions > 1 || (freeDimensions == 1 && !(isConst(dim[1], 1) && isConst(dim[2], 1)));
  if (several) {
    Expr volume = c.mul(dim[0], c.mul(dim[1], dim[2], flags), flags);
    addFact(c.binary(Op::Sle, volume, c.constant(32, 1024)));
    addFact(c.binary(Op::Slt, linearThread, c.constant(32, 1024)));
  }
}

Varies KernelView::variesOf(Expr e) {
  auto found = varies.find(e);
  if (found != varies.end()) return found->second;
  bottomUp(
      e, [&](Expr n) { return varies.count(n) != 0; },
      [&](Expr n) {
        Varies v = n->op == Op::Symbol  ? n->symbol->varies
                   : n->op == Op::Apply ? n->function->varies
                                        : Varies::Never;
        for (Expr o : n->operands) v = std::max(v, varies.at(o));
        varies.emplace(n, v);
      });
  return varies.at(e);
}

bool KernelView::isPrivate(Expr e, Relation relation) {
  return variesOf(e) >= (relation == Relation::DifferentBlocks ? Varies::ByBlock : Varies::ByThread);
}

Poly Linearizer::atom(Expr e) { return Poly(Atom{e, std::uint8_t(kernel->variesOf(e))}); }

Poly Linearizer::of(Expr e) {
  auto found = memo.find(e);
  if (found != memo.end()) return found->second;
  Poly p = compute(e);
  if (!p.valid || p.terms.size() > Poly::kMostTerms) p = atom(e);
  memo.emplace(e, p);
  return p;
}

Poly Linearizer::ofUnsigned(Expr e) {
  if (e->width == 1 || e->width == 64 || ranges->of(e).lo >= 0) return of(e);
  Expr wide = kernel->context.extend(Op::ZExt, 64, e);
  return wide->op == Op::ZExt ? atom(wide) : of(wide);
}

/// (c * whole + rest) / c is whole + rest / c, and its remainder that of the rest, where the rest is one
/// number that is not negative: `(blockIdx.x * 128 + threadIdx.x) / 32` is `blockIdx.x * 4 + threadIdx.x /
/// 32`.
Poly Linearizer::divided(Expr e) {
  Expr x = e->operands[0], y = e->operands[1];
  if (e->width == 1 || !isConst(y) || y->value < 0 || ranges->of(x).lo < 0) return atom(e);
  const bool isShift = e->op == Op::LShr || e->op == Op::AShr, isMask = e->op == Op::And;
  if (isShift && y->value >= e->width - 1) return atom(e);
  if (isMask && !isPowerOfTwo(std::uint64_t(y->value) + 1)) return atom(e);
  const Int by = isShift ? powerOfTwo(unsigned(y->value)) : Int(y->value) + isMask;
  if (by == 0) return atom(e);
  const Poly all = of(x);
  Poly whole;
  std::vector<Atom> rest;
  for (auto& [monomial, coefficient] : all.terms) {
    if (coefficient % by == 0)
      whole.add(monomial, coefficient / by);
    else if (coefficient == 1 && monomial.size() == 1)
      rest.push_back(monomial.front());
    else
      return atom(e);
  }
  if (by < 2 || !all.valid || whole.terms.empty() || rest.size() > 1) return atom(e);
  const bool isQuotient = isShift || e->op == Op::UDiv || e->op == Op::SDiv;
  Poly result = isQuotient ? whole : Poly(0);
  if (rest.empty()) return result;
  Expr part = rest.front().node;
  const Range range = ranges->of(part);
  if (range.lo < 0 || by > signedMax(part->width)) return atom(e);
  if (range.hi >= by)
    result.add(of(kernel->context.binary(e->op, part, kernel->context.constant(part->width, y->value))));
  else if (!isQuotient)
    result.add(of(part));
  return result;
}

Poly Linearizer::compute(Expr e) {
  Range r = ranges->of(e);
  if (r.isConstant()) return Poly(r.lo);
  auto operand = [&](std::size_t i) { return of(e->operands[i]); };
  switch (e->op) {
  case Op::Add: {
    if (!ranges->isExact(e)) return atom(e);
    Poly sum = operand(0);
    sum.add(operand(1));
    return sum;
  }
  case Op::Mul: {
    Poly product;
    if (ranges->isExact(e) && Poly::multiply(operand(0), operand(1), product)) return product;
    return atom(e);
  }
  case Op::SExt: return e->operands[0]->width > 1 ? operand(0) : atom(e);
  case Op::ZExt:
    return e->operands[0]->width > 1 && ranges->of(e->operands[0]).lo >= 0 ? operand(0) : atom(e);
  case Op::Trunc: return e->width > 1 && ranges->isExact(e) ? operand(0) : atom(e);
  case Op::LShr:
  case Op::AShr:
  case Op::UDiv:
  case Op::SDiv: return divided(e);
  case Op::And: // a mask that keeps every bit that can be set
    if (e->width > 1 && isConst(e->operands[1]) &&
        !(ranges->of(e->operands[0]).maybe & ~zeroExtend(e->operands[1]->value, e->width)))
      return operand(0);
    return divided(e);
  case Op::URem:
  case Op::SRem: { // a remainder of what is below the divisor
    Range a = ranges->of(e->operands[0]), b = ranges->of(e->operands[1]);
    return a.lo >= 0 && b.lo > a.hi ? operand(0) : divided(e);
  }
  case Op::Or:
  case Op::Xor: {
    Range a = ranges->of(e->operands[0]), b = ranges->of(e->operands[1]);
    if (e->width == 1 || a.lo < 0 || b.lo < 0 || (a.maybe & b.maybe)) return atom(e);
    Poly sum = operand(0);
    sum.add(operand(1));
    return sum;
  }
  default: return atom(e);
  }
}

/// The condition without the alternatives that the rest of it excludes: `p && (!p || q)` is `p && q`, also
/// among many others, as in a flag put together by `&&`.
static Expr withoutExcluded(ExprContext& c, Expr condition) {
  constexpr unsigned kMostRounds = 4;
  constexpr std::size_t kMostParts = 64;
  for (unsigned round = 0; round < kMostRounds; ++round) {
    std::vector<Expr> parts = conjunctsOf(condition);
    std::unordered_set<Expr> plain;
    for (Expr part : parts)
      if (part->op != Op::Or) plain.insert(part);
    if (plain.size() == parts.size() || parts.size() > kMostParts) return condition;
    auto isExcluded = [&](Expr choice) {
      const std::vector<Expr> needed = conjunctsOf(choice);
      return std::any_of(needed.begin(), needed.end(),
                         [&](Expr n) { return plain.count(c.logicalNot(n)) != 0; });
    };
    Expr result = c.boolean(true);
    for (Expr part : parts) {
      Expr left = part->op == Op::Or ? c.boolean(false) : part;
      std::vector<Expr> choices;
      if (part->op == Op::Or) choices.push_back(part);
      while (!choices.empty()) {
        Expr choice = choices.back();
        choices.pop_back();
        if (choice->op == Op::Or)
          choices.insert(choices.end(), choice->operands.begin(), choice->operands.end());
        else if (!isExcluded(choice))
          left = c.logicalOr(left, choice);
      }
      result = c.logicalAnd(result, left);
    }
    if (result == condition) return condition;
    condition = result;
  }
  return condition;
}

/// `e` with the choices made that the condition settles.
static Expr chosen(ExprContext& c, Expr condition, Expr e) {
  if (!e || !anyNode(e, [](Expr n) { return n->op == Op::Ite; })) return e;
  std::unordered_set<Expr> known;
  for (Expr part : conjunctsOf(condition)) known.insert(part);
  auto holds = [&](Expr part) { return isTrue(part) || known.count(part) != 0; };
  Substitution substitution(c);
  anyNode(e, [&](Expr n) {
    if (n->op != Op::Ite) return false;
    const std::vector<Expr> parts = conjunctsOf(n->operands[0]);
    if (std::all_of(parts.begin(), parts.end(), holds))
      substitution.set(n, n->operands[1]);
    else if (std::any_of(parts.begin(), parts.end(), [&](Expr part) {
               const std::vector<Expr> denied = conjunctsOf(c.logicalNot(part));
               return std::all_of(denied.begin(), denied.end(), holds);
             }))
      substitution.set(n, n->operands[2]);
    return false;
  });
  if (substitution.empty()) return e;
  Expr result = substitution(e);
  return result == e ? e : chosen(c, condition, result); // choices within choices
}

/// `e` with the choices made that the ranges settle.
static Expr settled(ExprContext& c, Ranges& ranges, Expr e) {
  Substitution substitution(c);
  anyNode(e, [&](Expr n) {
    if (n->op != Op::Ite) return false;
    const Range test = ranges.of(n->operands[0]);
    if (test.isConstant()) substitution.set(n, n->operands[test.lo == 0 ? 2 : 1]);
    return false;
  });
  if (substitution.empty()) return e;
  Expr result = substitution(e);
  return result == e ? e : settled(c, ranges, result);
}

AccessView::AccessView(KernelView& kernel, Expr given, Expr at, Expr size, Ranges::Wrapping wrapping)
    : condition(withoutExcluded(kernel.context, given)), offset(chosen(kernel.context, condition, at)),
      size(size), ranges(wrapping), linear(kernel, ranges) {
  Expr all = kernel.context.logicalAnd(kernel.facts1, condition);
  isPossible = ranges.assume(all);
  if (isPossible && wrapping == Ranges::Wrapping::Assumed) {
    for (Expr e : {condition, offset}) ranges.assumeSizes(e);
    ranges.assumeLength(size);
    isPossible = ranges.assume(all);
  }
  if (!isPossible) return;
  collectFacts(kernel);
  collectDivisionFacts(kernel);
  if (offset) offset = settled(kernel.context, ranges, offset);
  if (offset) offsetPoly = putTogether(linear.of(offset));
  if (size) {
    sizePoly = linear.of(size);
    Range r = ranges.of(size);
    if (r.lo < 0) sizePoly.valid = false; // a huge unsigned number
    if (r.lo >= 0 && r.hi < powerOfTwo(40)) mostBytes = r.hi;
  }
  isPossible = !ranges.isContradictory();
}

void AccessView::collectFacts(KernelView& kernel) {
  std::vector<Expr> conjuncts = conjunctsOf(condition);
  conjuncts.insert(conjuncts.end(), kernel.facts.begin(), kernel.facts.end());
  collectSignedFacts(kernel, conjuncts);
  collectUnsignedFacts(conjuncts);
  collectAlternatives(conjuncts);
}

/// `k == 0 || low <= high - k`, as of a loop that has been left in round k, where the latter holds of k = 0
/// as well: then it holds.
void AccessView::collectAlternatives(const std::vector<Expr>& conjuncts) {
  constexpr std::size_t kMost = 8;
  std::vector<Poly> found;
  for (Expr c : conjuncts) {
    if (c->op != Op::Or || c->width != 1) continue;
    for (bool exchanged : {false, true}) {
      Expr first = c->operands[exchanged], later = c->operands[!exchanged];
      if (first->op != Op::Eq || first->operands[0]->op != Op::Symbol || !isConst(first->operands[1]))
        continue;
      Expr counter = first->operands[0];
      for (Expr part : conjunctsOf(later)) {
        if ((part->op != Op::Slt && part->op != Op::Sle) || part->operands[0]->width == 1) continue;
        Poly more = linear.of(part->operands[1]) - linear.of(part->operands[0]);
        if (part->op == Op::Slt) more.add(Monomial{}, -1);
        Poly atFirst; // only where the counter stands alone
        for (auto& [monomial, coefficient] : more.terms) {
          const bool isCounter = monomial.size() == 1 && monomial.front().node == counter;
          atFirst.add(isCounter ? Monomial{} : monomial,
                      isCounter ? coefficient * first->operands[1]->value : coefficient);
          if (!isCounter && std::any_of(monomial.begin(), monomial.end(), [&](const Atom& atom) {
                return anyNode(atom.node, [&](Expr n) { return n == counter; });
              }))
            atFirst.valid = false;
        }
        if (!more.valid || !atFirst.valid || found.size() == kMost) continue;
        std::vector<const Poly*> known;
        for (const Poly& f : facts.nonNegative)
          if (f.valid) known.push_back(&f);
        Inequalities inequalities([&](const Atom& atom) { return ranges.of(atom.node); }, std::move(known));
        if (inequalities.provesNonNegative(atFirst)) found.push_back(std::move(more));
      }
    }
  }
  facts.nonNegative.insert(facts.nonNegative.end(), found.begin(), found.end());
}

void AccessView::collectSignedFacts(KernelView& kernel, const std::vector<Expr>& conjuncts) {
  for (Expr c : conjuncts) {
    if (kernel.variesOf(c) == Varies::Never) facts.uniform.push_back(c);
    if (c->op == Op::Xor && isTrue(c->operands[1]) && c->operands[0]->op == Op::Eq &&
        c->operands[0]->operands[0]->width > 1) {
      Poly apart = linear.of(c->operands[0]->operands[0]) - linear.of(c->operands[0]->operands[1]);
      if (apart.valid) facts.nonZero.push_back(std::move(apart));
    }
    if (!isComparison(c->op) || c->operands[0]->width == 1) continue;
    Expr x = c->operands[0], y = c->operands[1];
    bool isUnsigned = c->op == Op::Ult || c->op == Op::Ule;
    Poly p = isUnsigned ? linear.ofUnsigned(x) : linear.of(x);
    Poly q = isUnsigned ? linear.ofUnsigned(y) : linear.of(y);
    // 64-bit unsigned readings have no wider type to stand in; use them where the sign is known.
    if (isUnsigned && x->width == 64 && (ranges.of(x).lo < 0 || ranges.of(y).lo < 0)) continue;
    Poly difference = q - p;
    if (!difference.valid) continue;
    if (c->op == Op::Eq) {
      facts.zero.emplace_back(c, difference);
      facts.nonNegative.push_back(difference);
      facts.nonNegative.push_back(difference.scaled(-1));
      continue;
    }
    if (c->op == Op::Ult || c->op == Op::Slt) difference.add(Monomial{}, -1);
    facts.nonNegative.push_back(difference);
    // Below a minimum is below both, above a maximum above both.
    const Poly *left = &p, *right = &q;
    for (Expr choice : {x, y}) {
      if (choice->op != Op::Ite || isUnsigned) continue;
      const auto extremum = extremumOf(choice);
      if (!extremum || extremum->isLeast != (choice == y)) continue;
      for (const Poly& arm : extremum->arms) {
        Poly one = choice == y ? arm - *left : *right - arm;
        if (c->op == Op::Ult || c->op == Op::Slt) one.add(Monomial{}, -1);
        if (one.valid) facts.nonNegative.push_back(std::move(one));
      }
    }
  }
}

/// `x < y` without sign where the other conditions show that y is not negative: `i < size - first` with
/// `first
/// <= size`.
void AccessView::collectUnsignedFacts(const std::vector<Expr>& conjuncts) {
  for (Expr c : conjuncts) {
    if ((c->op != Op::Ult && c->op != Op::Ule) || ranges.of(c->operands[1]).lo >= 0) continue;
    const Poly x = linear.of(c->operands[0]), y = linear.of(c->operands[1]);
    std::vector<const Poly*> known;
    for (const Poly& f : facts.nonNegative)
      if (f.valid) known.push_back(&f);
    Inequalities inequalities([&](const Atom& atom) { return ranges.of(atom.node); }, std::move(known));
    if (!x.valid || !y.valid || y.terms.size() < 2 || !inequalities.provesNonNegative(y)) continue;
    Poly below = y - x;
    if (c->op == Op::Ult) below.add(Monomial{}, -1);
    facts.nonNegative.push_back(std::move(below));
    facts.nonNegative.push_back(x);
  }
}

/// `p < q ? x : y` that is the lesser of x and y, or the greater, whatever p and q are: `last > end ? end -
/// first : last - first`.
std::optional<AccessView::Extremum> AccessView::extremumOf(Expr choice) {
  Expr test = choice->operands[0];
  if (test->op != Op::Slt && test->op != Op::Sle) return {};
  if (test->operands[0]->width == 1) return {};
  const Poly then = linear.of(choice->operands[1]), otherwise = linear.of(choice->operands[2]);
  const Poly more = otherwise - then;
  Poly distance = linear.of(test->operands[1]) - linear.of(test->operands[0]); // > 0, or >= 0
  if (!more.valid || !distance.valid) return {};
  if (test->op == Op::Slt) distance.add(Monomial{}, -1); // now >= 0 when the test holds, else <= -1
  for (const bool isLeast : {true, false}) {
    // more = distance + rest, of which -1 <= ... the test decides the sign.
    const Poly rest = (isLeast ? more : more.scaled(-1)) - distance;
    if (!rest.isConstant() || rest.constant() < 0 || rest.constant() > 1) continue;
    return Extremum{{then, otherwise}, isLeast};
  }
  return {};
}

Poly instance(const Poly& p, Relation relation, std::uint8_t thread) {
  std::uint8_t least =
      std::uint8_t(relation == Relation::DifferentBlocks ? Varies::ByBlock : Varies::ByThread);
  return p.mapped([&](Atom a) { return Atom{a.node, a.thread >= least ? thread : std::uint8_t(0)}; });
}

} // namespace kcheck::analyzer
