#include "analyzer/decide/view.h"

#include "analyzer/decide/choices.h"
#include "analyzer/expr/fold.h"

namespace kcheck::analyzer {

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

} // namespace kcheck::analyzer
