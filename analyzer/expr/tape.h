// Expressions laid out for many evaluations: of each thread of a launch, in each round of its loops.
#pragma once

#include "analyzer/expr/expr.h"

namespace kcheck::analyzer {

/// Gives values alone, as the machine computes them: what the language leaves undefined is not looked at.
/// For expressions without functions.
class Tape {
public:
  explicit Tape(const std::vector<Expr>& roots);

  /// What the symbol reads as from now on. Of one that does not occur, nothing.
  void set(const Symbol* symbol, std::int64_t value);
  void run();
  /// Of the root of this number, as `run` has found it.
  std::int64_t operator[](std::size_t root) const { return values[rootAt[root]]; }

private:
  struct Step {
    Expr node;
    std::uint32_t at[3]; ///< of the operands
  };
  std::vector<Step> steps; ///< of what is no leaf, operands first
  std::vector<std::int64_t> values;
  std::vector<std::uint32_t> rootAt, resultAt;
  std::unordered_map<const Symbol*, std::uint32_t> symbolAt;
};

} // namespace kcheck::analyzer
