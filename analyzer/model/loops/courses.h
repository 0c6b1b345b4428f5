// How a value moves as a loop's counter grows: what a comparison says of the rounds before.
#pragma once

#include "analyzer/expr/expr.h"

namespace kcheck::analyzer {

/// What is needed to say that a condition for going on held in all rounds before one in which it holds.
enum class Held {
  Before,     ///< nothing: then it did
  SinceFirst, ///< that it held in the first round
  Perhaps,    ///< more than that: it may have failed in between
};

/// Comparisons by order, of values that move one way without wrapping.
Held heldBefore(Expr condition, Expr counter);

} // namespace kcheck::analyzer
