// What hints write of atomic operations.
#pragma once

#include <string>
#include <utility>

namespace kcheck {

/// The address of an expression as one would write it: `x` of `*x`, `&c[0]` of `c[0]`. Of `*x++`, whose
/// operand would step twice, `&*x++`.
inline std::string atomicOperand(const std::string& expr) {
  const bool steps = expr.find("++") != expr.npos || expr.find("--") != expr.npos;
  return expr.starts_with('*') && !steps ? expr.substr(1) : "&" + expr;
}

/// Does at once what `expr op= ...` does in two steps.
inline std::string atomicUpdate(const std::string& expr, const std::string& op) {
  const std::string operand = atomicOperand(expr);
  if (op == "-") return "atomicAdd(" + operand + ", -...)";
  for (const auto& [sign, name] : {std::pair{"&", "atomicAnd"}, {"|", "atomicOr"}, {"^", "atomicXor"}})
    if (op == sign) return std::string(name) + "(" + operand + ", ...)";
  if (!op.empty() && op != "+") return "a loop around atomicCAS(" + operand + ", ...)";
  return "atomicAdd(" + operand + ", ...)";
}

} // namespace kcheck
