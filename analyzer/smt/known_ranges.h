// What the asking side knows of the values in a query: handed on with it, so that nothing is worked out
// twice.
#pragma once

#include "analyzer/expr/range.h"

#include <unordered_map>

namespace kcheck::analyzer::smt {

class KnownRanges {
public:
  struct Known {
    Range range;
    bool isExact; ///< as Ranges::isExact()
  };
  void set(Expr e, const Known& known) { all[e] = known; }
  const Range& of(Expr e) const { return all.at(e).range; }
  Range unsignedOf(Expr e) const { return unsignedReading(of(e), e->width); }
  bool isExact(Expr e) const { return all.at(e).isExact; }

private:
  std::unordered_map<Expr, Known> all;
};

} // namespace kcheck::analyzer::smt
