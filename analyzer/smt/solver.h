// The door to Z3. A query is a set of conditions over expressions; the answer a value, a proof or a reason.
// Z3 runs in processes of its own (server.h) that end at the deadline, since it does not always keep one. No
// z3 header leaks from here.
#pragma once

#include "analyzer/expr/evaluate.h"
#include "analyzer/expr/range.h"

#include <string>
#include <vector>

namespace kcheck::analyzer::smt {

/// Integers decide sums and products well, bit-vectors masks and wrap-around.
enum class Theory : std::uint8_t { Integers, BitVectors };

enum class Status : std::uint8_t {
  Sat,     ///< `model` satisfies every constraint, checked by evaluation
  Unsat,   ///< no values do
  Unknown, ///< `reason`: a time limit, or what Z3 said
  Error,   ///< the solver failed; `reason` says how
};

struct Answer {
  Status status = Status::Unknown;
  Theory theory = Theory::Integers; ///< that decided
  Assignment model;
  std::string reason;
  bool timedOut = false;
  double seconds = 0;
};

struct Query {
  std::vector<Expr> constraints; ///< of width 1; all must hold
  /// Tried in this order on top of the constraints, for models that read well.
  std::vector<std::vector<Expr>> preferences;
  /// Tried in this order when the constraints alone are too hard: values for sizes, so that products of them
  /// become linear.
  std::vector<std::vector<Expr>> guesses;
  /// Nodes that are asserted not to wrap, beyond those whose flags say so.
  std::vector<Expr> noWrap;
};

/// `ranges` hold for every solution of the constraints. From any thread.
Answer check(const Query& query, Ranges& ranges, unsigned milliseconds);

/// Starts the process that Z3 runs in. Needs not be called, but is worth it while this process is small.
void prepareSolver();

} // namespace kcheck::analyzer::smt
