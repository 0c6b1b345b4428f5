// A query as bytes, on its way from the process that asks to the one that runs Z3.
#pragma once

#include "analyzer/smt/known_ranges.h"
#include "analyzer/smt/solver.h"

#include <deque>
#include <memory>
#include <string>

namespace kcheck::analyzer::smt {

/// A query and all that it stands on. The expressions have the numbers that they had where they came from.
struct ReceivedQuery {
  std::deque<Symbol> symbols; ///< what a solver asks of them: number, width, kind and bounds
  std::deque<Function> functions;
  std::deque<Node> nodes;
  KnownRanges ranges;
  Query query;
  unsigned milliseconds = 0;
};

/// Every symbol below the constraints, once.
std::vector<const Symbol*> symbolsOf(const std::vector<Expr>& constraints);

/// With its length in front.
std::string encode(const Query& query, Ranges& ranges, unsigned milliseconds);
/// Of what follows the length; null when it is no query.
std::unique_ptr<ReceivedQuery> decode(const std::string& bytes);

} // namespace kcheck::analyzer::smt
