#include "analyzer/model/arrival_rows.h"

#include <algorithm>
#include <array>

namespace kcheck::analyzer {
namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 31;

/// A sum of multiples of block indices, of positive ones alone.
struct IndexSum {
  std::array<std::int64_t, 3> factors{};
  std::int64_t constant = 0;
  bool isKnown = true;
  bool mayWrap = false; ///< multiples of an index are added up in fewer bits
};

void addTo(IndexSum& sum, const KernelModel& model, Expr e, std::int64_t factor, bool isWide) {
  if (isConst(e)) {
    sum.isKnown &= e->value >= 0 && e->value < kFar;
    if (sum.isKnown) sum.constant += factor * e->value;
    return;
  }
  for (unsigned axis = 0; axis < 3; ++axis)
    if (e == model.blockIdx[axis]) {
      sum.mayWrap |= !isWide && sum.factors[axis] != 0;
      sum.factors[axis] += factor;
      return;
    }
  switch (e->op) {
  case Op::ZExt:
  case Op::SExt: return addTo(sum, model, e->operands[0], factor, e->operands[0]->op == Op::Symbol);
  case Op::Add:
    sum.mayWrap |= !isWide;
    for (Expr part : e->operands) addTo(sum, model, part, factor, isWide);
    return;
  case Op::Mul:
    sum.mayWrap |= !isWide;
    for (unsigned side = 0; side < 2; ++side)
      if (isConst(e->operands[side]) && e->operands[side]->value > 0 &&
          e->operands[side]->value < kFar / factor)
        return addTo(sum, model, e->operands[1 - side], factor * e->operands[side]->value, isWide);
    break;
  default: break;
  }
  sum.isKnown = false;
}

} // namespace

std::optional<RowAxes> rowAxesOf(const KernelModel& model, Expr offset, std::int64_t bytes) {
  IndexSum sum;
  addTo(sum, model, offset, 1, true);
  if (!sum.isKnown) return {};
  std::array<unsigned, 3> axes{0, 1, 2};
  std::ranges::sort(axes, {}, [&](unsigned axis) { return sum.factors[axis]; });
  RowAxes row = 0;
  std::int64_t reach = bytes; // of the places that the axes so far lead to, together
  bool areCounted = true;     // how many indices these have
  for (const unsigned axis : axes) {
    if (sum.factors[axis] == 0) continue;
    if (!areCounted || sum.factors[axis] < reach) return {};
    const Expr extent = model.gridDim[axis];
    areCounted = extent && isConst(extent) && extent->value > 0;
    if (areCounted) reach += sum.factors[axis] * (extent->value - 1);
    if (reach >= kFar) return {}; // no counters
    row |= 1u << axis;
  }
  const bool isNear = areCounted && sum.constant < kFar - reach;
  return sum.mayWrap && !isNear ? std::nullopt : std::optional(row);
}

} // namespace kcheck::analyzer
