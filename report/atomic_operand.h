// What hints write as an atomic operation's first argument.
#pragma once

#include <string>

namespace kcheck {

/// The address of an expression as one would write it: `x` of `*x`, `&c[0]` of `c[0]`. Of `*x++`, whose
/// operand would step twice, `&*x++`.
inline std::string atomicOperand(const std::string& expr) {
  const bool steps = expr.find("++") != expr.npos || expr.find("--") != expr.npos;
  return expr.starts_with('*') && !steps ? expr.substr(1) : "&" + expr;
}

} // namespace kcheck
