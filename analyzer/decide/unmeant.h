// Witnesses that show a launch which nobody means: sizes below zero, and steps of zero that bring all threads
// to one place. The race check asks for others.
#pragma once

#include "analyzer/decide/question.h"

#include <vector>

namespace kcheck::analyzer {

struct Unmeant {
  Expr parameter;
  bool isZero; ///< else negative
};

/// Integer parameters by which what tells the threads apart is multiplied in a place (`x[i * stride]`), and
/// which may be zero.
std::vector<Expr> stepParameters(KernelView& view, const PairQuestion& question);
/// Integer parameters that are negative in a witness of a race, and steps that are zero there. In the
/// order of the kernel.
std::vector<Unmeant> unmeantParameters(const Verdict& verdict, KernelView& view,
                                       const PairQuestion& question);

} // namespace kcheck::analyzer
