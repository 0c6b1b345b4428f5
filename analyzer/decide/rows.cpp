// Rows of an offset, however it is written: `cols * 16 * by + 16 * bx + tx + cols` is row `16 * by + 1` and
// column `16 * bx + tx` of rows that are `cols` long.
#include "analyzer/decide/pitches.h"
#include "analyzer/decide/poly.h"

#include <algorithm>
#include <iterator>

namespace kcheck::analyzer {
namespace {

/// Between threads, or from round to round of a loop.
bool differs(const Atom& atom) {
  const auto isRound = [](Expr n) {
    return n->op == Op::Symbol && n->symbol->kind == SymbolKind::LoopCounter;
  };
  return variesOf(atom.node) != Varies::Never || anyNode(atom.node, isRound);
}

bool isVarying(const Monomial& monomial) { return std::ranges::any_of(monomial, differs); }

bool hasFactor(const Monomial& monomial, Expr number) {
  return std::ranges::any_of(monomial, [&](const Atom& atom) { return atom.node == number; });
}

/// As the text reads: that something may wrap is no matter here.
Poly asWritten(Expr e) {
  switch (e->op) {
  case Op::Const: return Poly(Int(e->value));
  case Op::SExt:
  case Op::ZExt:
  case Op::Trunc:
    return e->operands[0]->width > 1 && e->width > 1 ? asWritten(e->operands[0]) : Poly(Atom{e});
  case Op::Add: {
    Poly sum = asWritten(e->operands[0]);
    sum.add(asWritten(e->operands[1]));
    return sum;
  }
  case Op::Mul: {
    Poly product;
    const bool isSmall = Poly::multiply(asWritten(e->operands[0]), asWritten(e->operands[1]), product);
    return isSmall ? product : Poly(Atom{e});
  }
  default: return Poly(Atom{e});
  }
}

/// What is divided, and by what.
struct Division {
  Expr number = nullptr;
  std::int64_t by = 0;
  friend bool operator==(const Division&, const Division&) = default;
};

Division quotientIn(Expr e) {
  if (e->operands.size() != 2 || !isConst(e->operands[1]) || e->operands[1]->value <= 0) return {};
  const std::int64_t by = e->operands[1]->value;
  if (e->op == Op::UDiv || e->op == Op::SDiv) return {e->operands[0], by};
  if ((e->op == Op::LShr || e->op == Op::AShr) && by < 31) return {e->operands[0], std::int64_t(1) << by};
  return {};
}

Division remainderIn(Expr e) {
  if (e->operands.size() != 2 || !isConst(e->operands[1]) || e->operands[1]->value <= 0) return {};
  const std::int64_t by = e->operands[1]->value;
  if (e->op == Op::URem || e->op == Op::SRem) return {e->operands[0], by};
  if (e->op == Op::And && (by & (by + 1)) == 0) return {e->operands[0], by + 1};
  return {};
}

/// `at / 32 * 32 + at % 32` is `at`.
Poly putTogether(const Poly& offset) {
  for (const auto& [whole, factor] : offset.terms)
    for (const auto& [rest, by] : offset.terms) {
      if (whole.size() != 1 || rest.size() != 1) continue;
      const Division division = quotientIn(whole[0].node);
      if (!division.number || division != remainderIn(rest[0].node) || factor != by * division.by) continue;
      Poly result = offset;
      result.add(whole, -factor);
      result.add(rest, -by);
      result.add(asWritten(division.number), by);
      return result;
    }
  return offset;
}

using Terms = std::vector<std::pair<Monomial, Int>>;

/// What leads from row to row, and the place in a row.
struct Parts {
  Terms along, within;

  Parts(const Poly& offset, Expr number) {
    for (const auto& [monomial, by] : offset.terms)
      (hasFactor(monomial, number) ? along : within).emplace_back(monomial, by);
  }
};

Expr sumOf(ExprContext& context, const Terms& terms) {
  Expr sum = context.constant(64, 0);
  for (const auto& [monomial, by] : terms) {
    Expr product = context.constant(64, std::int64_t(by));
    for (const Atom& atom : monomial) product = context.mul(product, wide(context, atom.node), NoSignedWrap);
    sum = context.add(sum, product, NoSignedWrap);
  }
  return sum;
}

/// What all that leads from row to row has in common, but for what differs between threads: the length of
/// one.
Terms lengthOf(const Terms& along) {
  Monomial common = along.front().first;
  std::erase_if(common, differs);
  Int by = 0;
  for (const auto& [monomial, factor] : along) {
    by = gcd(by, factor);
    Monomial both;
    std::set_intersection(common.begin(), common.end(), monomial.begin(), monomial.end(),
                          std::back_inserter(both));
    common = std::move(both);
  }
  return {{common, by}};
}

std::vector<Expr> numbersIn(const Poly& offset) {
  std::vector<Expr> numbers;
  for (const auto& [monomial, by] : offset.terms)
    for (const Atom& atom : monomial)
      if (isNumber(atom.node) && std::ranges::find(numbers, atom.node) == numbers.end())
        numbers.push_back(atom.node);
  return numbers;
}

/// As the kernel has it: in all rounds of its loops.
std::vector<const ModelAccess*> allOf(const KernelModel& model, const ModelAccess& access) {
  std::vector<const ModelAccess*> result{&access};
  for (const auto* phases : {&model.blockPhases, &model.gridPhases})
    for (const Phase& phase : *phases)
      for (const ModelAccess& one : phase.accesses)
        if (one.site == access.site && one.object == access.object && one.offset != access.offset)
          result.push_back(&one);
  return result;
}

} // namespace

namespace {

/// How far parts of an array lie apart, in numbers of the launch, with what tells the threads which part.
struct Level {
  Monomial stride;
  Int by = 0;
};

Monomial strideOf(const Monomial& monomial) {
  Monomial stride = monomial;
  std::erase_if(stride, differs);
  return stride;
}

std::vector<Level> levelsOf(const std::vector<Poly>& places, const std::function<bool(Expr)>& isOpen) {
  std::vector<Level> levels;
  for (const Poly& place : places)
    for (const auto& [monomial, factor] : place.terms) {
      const Monomial stride = strideOf(monomial);
      if (std::ranges::none_of(stride, [&](const Atom& atom) { return isOpen(atom.node); })) continue;
      if (stride.size() == monomial.size() && stride.size() < 2) continue; // where something begins
      const auto known = std::ranges::find(levels, stride, &Level::stride);
      Level& level = known != levels.end() ? *known : levels.emplace_back(Level{stride});
      level.by = gcd(level.by, factor);
    }
  return levels;
}

/// Rows of rows, whose lengths the kernel itself bounds: that there are no more of them than the next level
/// has room for (`plane * h * w + row * w + x`: that `row` is below `h`).
Expr areFew(ExprContext& context, const Poly& place, const Level& level) {
  Expr result = context.boolean(true);
  std::map<Monomial, Terms> lower;
  for (const auto& [monomial, factor] : place.terms) {
    const Monomial stride = strideOf(monomial);
    if (stride.empty() || stride == level.stride ||
        !std::includes(level.stride.begin(), level.stride.end(), stride.begin(), stride.end()))
      continue;
    Monomial index;
    std::set_difference(monomial.begin(), monomial.end(), stride.begin(), stride.end(),
                        std::back_inserter(index));
    lower[stride].emplace_back(index, factor);
  }
  for (const auto& [stride, index] : lower) {
    Monomial room;
    std::set_difference(level.stride.begin(), level.stride.end(), stride.begin(), stride.end(),
                        std::back_inserter(room));
    const Expr at = sumOf(context, index), most = sumOf(context, {{room, level.by}});
    result =
        context.logicalAnd(result, context.logicalAnd(context.binary(Op::Sle, context.constant(64, 0), at),
                                                      context.binary(Op::Slt, at, most)));
  }
  return result;
}

/// That a place lies in its part of the next level, at each of them.
Expr liesIn(ExprContext& context, const Poly& place, const std::vector<Level>& levels) {
  Terms rest;
  for (const auto& [monomial, factor] : place.terms)
    if (std::ranges::find(levels, strideOf(monomial), &Level::stride) == levels.end())
      rest.emplace_back(monomial, factor);
  Expr at = sumOf(context, rest);
  Expr result = context.binary(Op::Sle, context.constant(64, 0), at);
  for (const Level& level : levels) {
    const Expr length = sumOf(context, {{level.stride, level.by}});
    result = context.logicalAnd(result, context.binary(Op::Slt, at, length));
    result = context.logicalAnd(result, areFew(context, place, level));
    Terms parts;
    for (const auto& [monomial, factor] : place.terms)
      if (strideOf(monomial) == level.stride) parts.emplace_back(monomial, factor);
    at = context.add(at, sumOf(context, parts), NoSignedWrap);
  }
  return result;
}

} // namespace

Nesting nestingOf(KernelView& kernel, std::initializer_list<const ModelAccess*> accesses,
                  const std::function<bool(Expr)>& isOpen) {
  constexpr std::size_t kMost = 3;
  std::vector<Poly> places;
  for (const ModelAccess* access : accesses) places.push_back(putTogether(asWritten(access->offset)));
  std::vector<Level> levels = levelsOf(places, isOpen);
  Nesting result;
  if (levels.size() > kMost) return result;
  for (const Level& level : levels)
    for (const Atom& atom : level.stride)
      if (isOpen(atom.node) && std::ranges::find(result.numbers, atom.node) == result.numbers.end())
        result.numbers.push_back(atom.node);
  std::ranges::sort(levels, {},
                    [](const Level& level) { return std::pair(level.stride.size(), level.stride); });
  const auto isPart = [](const Level& level, const Level& of) {
    return level.stride.size() < of.stride.size() &&
           std::includes(of.stride.begin(), of.stride.end(), level.stride.begin(), level.stride.end());
  };
  const auto isInOrder = [&] { // a multiple comes behind what it is one of
    for (std::size_t i = 0; i < levels.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (isPart(levels[i], levels[k])) return false;
    return true;
  };
  do {
    if (!isInOrder()) continue;
    Expr way = kernel.context.boolean(true);
    for (const Poly& place : places)
      way = kernel.context.logicalAnd(way, liesIn(kernel.context, place, levels));
    result.ways.push_back(way);
  } while (std::ranges::next_permutation(levels, {}, [](const Level& level) {
             return std::pair(level.stride.size(), level.stride);
           }).found);
  return result;
}

std::vector<Row> rowsOf(KernelView& kernel, std::initializer_list<const ModelAccess*> accesses) {
  const auto varies = [](const auto& term) { return isVarying(term.first); };
  ExprContext& context = kernel.context;
  std::vector<Row> result;
  for (const ModelAccess* access : accesses) {
    const Poly asked = asWritten(access->offset);
    std::vector<Poly> offsets;
    for (const ModelAccess* one : allOf(kernel.model, *access)) offsets.push_back(asWritten(one->offset));
    Poly all;
    for (const Poly& offset : offsets) all.add(offset);
    for (Expr number : numbersIn(all)) {
      const Terms place = Parts(asked, number).within;
      Terms along;
      bool leadsOn = false;
      for (const Poly& offset : offsets) {
        const Terms one = Parts(offset, number).along;
        leadsOn = leadsOn || std::ranges::any_of(one, varies) || one != Parts(asked, number).along;
        along.insert(along.end(), one.begin(), one.end());
      }
      if (along.empty() || !leadsOn || std::ranges::none_of(place, varies)) continue;
      const Expr at = sumOf(context, place), length = sumOf(context, lengthOf(along));
      result.push_back({number, context.logicalAnd(context.binary(Op::Sle, context.constant(64, 0), at),
                                                   context.binary(Op::Slt, at, length))});
    }
  }
  return result;
}

} // namespace kcheck::analyzer
