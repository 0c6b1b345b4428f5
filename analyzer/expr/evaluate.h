// Evaluates an expression on concrete values: the oracle of the simplifier's and deciders' tests, and the
// last word on a solver's model before it is called a witness.
#pragma once

#include "analyzer/expr/expr.h"

#include <map>

namespace kcheck::analyzer {

struct Value {
  std::int64_t value = 0;
  /// The program would have undefined behaviour here: an operation that must not wrap wraps, or divides by
  /// zero. Arms of Ite that are not taken and operands that do not decide an And or Or do not count.
  bool undefined = false;
};

/// Values of the free variables. A symbol that is absent reads as 0 (or the nearest value in its range).
struct Assignment {
  std::unordered_map<const Symbol*, std::int64_t> symbols;
  std::map<std::pair<const Function*, std::vector<std::int64_t>>, std::int64_t> functions;
  std::unordered_map<const Function*, std::int64_t> defaults; ///< of functions, for arguments not listed

  std::int64_t of(const Symbol* symbol) const;
  std::int64_t of(const Function* function, const std::vector<std::int64_t>& arguments) const;
};

/// Evaluates many expressions under one assignment, sharing the work.
class Evaluator {
public:
  explicit Evaluator(const Assignment& assignment) : assignment(&assignment) {}
  Value operator()(Expr e);

private:
  Value node(Expr e);
  Value logic(Expr e) const;
  Value arithmetic(Expr e) const;
  const Assignment* assignment;
  std::unordered_map<Expr, Value> memo;
};

Value evaluate(Expr e, const Assignment& assignment);

/// Whether every constraint is true and defined, and apart what injective functions keep apart.
bool satisfies(const Assignment& values, const std::vector<Expr>& constraints);

/// Whether the values keep apart what injective functions below `roots` keep apart.
bool keepsApart(const std::vector<Expr>& roots, Evaluator& evaluate);

} // namespace kcheck::analyzer
