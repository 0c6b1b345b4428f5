// Formulas, put together.
#pragma once

#include "report/program.h"

namespace kcheck::frontend {

inline constexpr std::uint64_t kIntBits = 32;

inline Formula ofConstant(std::int64_t value) {
  Formula formula;
  formula.constant = value;
  return formula;
}

inline Formula made(Formula::Op op, std::vector<Formula> operands) {
  Formula formula;
  formula.op = op;
  formula.operands = std::move(operands);
  return formula;
}

inline Formula combined(Formula::Op op, Formula left, Formula right) {
  return made(op, {std::move(left), std::move(right)});
}

inline Formula opposite(Formula formula) { return made(Formula::Op::Not, {std::move(formula)}); }

} // namespace kcheck::frontend
