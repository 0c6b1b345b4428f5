#include "analyzer/decide/pitches.h"

#include "analyzer/expr/fold.h"
#include "analyzer/expr/range.h"

#include <algorithm>
#include <optional>
#include <set>

namespace kcheck::analyzer {
namespace {

Expr bare(Expr e) {
  while (e->op == Op::SExt || e->op == Op::ZExt) e = e->operands[0];
  return e;
}

void addSummands(Expr e, std::vector<Expr>& summands) {
  if (e->op != Op::Add) return summands.push_back(e);
  for (Expr part : e->operands) addSummands(part, summands);
}

/// The number of the launch in a product with what differs between threads; null where it is none.
Expr pitchIn(Expr product) {
  product = bare(product);
  if (product->op != Op::Mul) return nullptr;
  for (std::size_t i : {0u, 1u}) {
    Expr factor = bare(product->operands[i]);
    if (isNumber(factor) && variesOf(product->operands[1 - i]) != Varies::Never) return factor;
  }
  return nullptr;
}

} // namespace

bool isNumber(Expr e) {
  if (e->width < 32 || !isGiven(e)) return false;
  return e->op != Op::Symbol || e->symbol->kind == SymbolKind::Parameter;
}

bool hasNumber(Expr e) { return anyNode(e, isNumber); }

std::string nameOf(Expr number) {
  return number->op == Op::Symbol ? "`" + number->symbol->name + "`"
                                  : "a field of `" + number->function->name + "`";
}

Expr wide(ExprContext& context, Expr e) { return e->width < 64 ? context.extend(Op::SExt, 64, e) : e; }

std::vector<Pitch> pitchesOf(ExprContext& context, std::initializer_list<const ModelAccess*> accesses) {
  std::vector<Pitch> result;
  const auto note = [&](const Pitch& one) {
    const auto isKnown = [&](const Pitch& known) {
      return known.number == one.number && known.inRow == one.inRow;
    };
    if (one.inRow && variesOf(one.inRow) != Varies::Never && std::ranges::none_of(result, isKnown))
      result.push_back(one);
  };
  const auto look = [&](Expr sum) {
    std::vector<Expr> summands;
    addSummands(sum, summands);
    for (Expr product : summands) {
      Pitch pitch{pitchIn(product), nullptr};
      if (!pitch.number) continue;
      for (Expr other : summands)
        if (other != product) pitch.inRow = pitch.inRow ? context.add(pitch.inRow, other) : other;
      note(pitch);
    }
    return false;
  };
  for (const ModelAccess* access : accesses)
    anyNode(access->offset, [&](Expr n) { return n->op == Op::Add && look(n); });
  return result;
}

namespace {

/// A summand without the constants that it is multiplied by, and these.
struct Scaled {
  Expr number = nullptr;
  std::int64_t by = 1;
};

Scaled scaled(Expr e) {
  Scaled result{bare(e), 1};
  while (result.number->op == Op::Mul && isConst(result.number->operands[1])) {
    result.by *= result.number->operands[1]->value;
    result.number = bare(result.number->operands[0]);
  }
  return result;
}

/// By how far rows lie apart where a summand steps through them: a number of the launch, or a constant.
struct Step {
  Scaled length;
  std::string text;
};

std::optional<Step> stepIn(ExprContext& context, Expr summand) {
  const Scaled product = scaled(summand);
  if (Expr number = pitchIn(product.number)) return Step{{number, product.by}, nameOf(number)};
  if (product.by < 2 || variesOf(product.number) == Varies::Never) return {};
  return Step{{context.constant(64, product.by), 1}, std::to_string(product.by)};
}

/// Looks at the sums of one offset for rows and what lies in them.
class ColumnSearch {
public:
  explicit ColumnSearch(ExprContext& context) : context(context) {}

  void look(Expr sum) {
    std::vector<Expr> summands;
    addSummands(sum, summands);
    for (std::size_t row = 0; row < summands.size(); ++row)
      if (const auto step = stepIn(context, summands[row])) lookInRow(*step, summands, row);
  }

  /// Rows of a constant length count where some thread's own place in them shows that they are such.
  std::vector<Column> found() const {
    std::vector<Column> result;
    for (const auto& [column, constant] : columns)
      if (!constant || shown.contains(constant)) result.push_back(column);
    return result;
  }

private:
  void lookInRow(const Step& step, const std::vector<Expr>& summands, std::size_t row) {
    const bool isConstant = isConst(step.length.number);
    Expr length = times(step.length), place = context.constant(64, 0), parts = context.boolean(true);
    Expr number = nullptr;
    bool varies = false;
    for (std::size_t i = 0; i < summands.size(); ++i) {
      if (i == row) continue;
      const Scaled part = scaled(summands[i]);
      place = context.add(place, times(part), NoSignedWrap);
      varies = varies || variesOf(part.number) != Varies::Never;
      if (!isNumber(part.number)) continue;
      if (part.number == step.length.number) return; // another row
      number = part.number;
      parts = context.logicalAnd(parts, isWithin(times(part), length));
    }
    if (isConstant && varies) shown.insert(length);
    if (!number || (isConstant && varies)) return;
    columns.emplace_back(Column{number, step.text, context.logicalAnd(parts, isWithin(place, length))},
                         isConstant ? length : nullptr);
  }

  Expr times(const Scaled& e) {
    return context.mul(wide(context, e.number), context.constant(64, e.by), NoSignedWrap);
  }

  Expr isWithin(Expr place, Expr length) {
    return context.logicalAnd(context.binary(Op::Sle, context.constant(64, 0), place),
                              context.binary(Op::Slt, place, length));
  }

  ExprContext& context;
  std::vector<std::pair<Column, Expr>> columns; ///< with the length where it is constant
  std::set<Expr> shown;
};

} // namespace

std::vector<Column> columnsOf(ExprContext& context, std::initializer_list<const ModelAccess*> accesses) {
  ColumnSearch search(context);
  for (const ModelAccess* access : accesses)
    anyNode(access->offset, [&](Expr n) {
      if (n->op == Op::Add) search.look(n);
      return false;
    });
  return search.found();
}

} // namespace kcheck::analyzer
