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
