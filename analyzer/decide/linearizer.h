// Expressions as polynomials.
#pragma once

#include "analyzer/decide/kernel_view.h"
#include "analyzer/decide/poly.h"
#include "analyzer/expr/range.h"

#include <unordered_map>

namespace kcheck::analyzer {

/// Turns expressions into polynomials as far as ranges show that nothing wraps. Atoms carry the Varies of
/// their node in place of a thread number.
class Linearizer {
public:
  Linearizer(KernelView& kernel, Ranges& ranges) : kernel(&kernel), ranges(&ranges) {}
  Poly of(Expr e);
  /// The unsigned reading of e.
  Poly ofUnsigned(Expr e);

private:
  Poly atom(Expr e);
  Poly compute(Expr e);
  Poly divided(Expr e);
  KernelView* kernel;
  Ranges* ranges;
  std::unordered_map<Expr, Poly> memo;
};

/// A polynomial as thread `thread` of a pair so related has it.
Poly instance(const Poly& p, Relation relation, std::uint8_t thread);

} // namespace kcheck::analyzer
