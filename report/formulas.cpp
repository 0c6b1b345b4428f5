#include "report/formulas.h"

#include <algorithm>
#include <map>

namespace kcheck {
namespace {

class Variables {
public:
  explicit Variables(bool haveNames) : haveNames(haveNames) {}

  bool areSame(const std::optional<Formula>& a, const std::optional<Formula>& b) {
    return a.has_value() == b.has_value() && (!a || areSame(*a, *b));
  }

  bool areSame(const Formula& a, const Formula& b) {
    if (a.op != b.op || a.constant != b.constant || a.mayDivide != b.mayDivide) return false;
    if (a.op == Formula::Op::Variable && !isOne(a.number, b.number)) return false;
    return std::ranges::equal(a.operands, b.operands,
                              [&](const Formula& x, const Formula& y) { return areSame(x, y); });
  }

private:
  /// Whether the one stands where the other does.
  bool isOne(unsigned a, unsigned b) {
    if (haveNames) return a == b;
    return there.try_emplace(a, b).first->second == b && back.try_emplace(b, a).first->second == a;
  }

  bool haveNames;
  std::map<unsigned, unsigned> there, back;
};

} // namespace

std::set<unsigned> variablesOf(const Formula& formula) {
  std::set<unsigned> numbers;
  if (formula.op == Formula::Op::Variable) numbers.insert(formula.number);
  for (const Formula& operand : formula.operands) numbers.merge(variablesOf(operand));
  return numbers;
}

bool sameFormulas(const Launch& a, const Launch& b) {
  Variables variables(
      std::ranges::any_of(a.arguments, [](const Argument& one) { return one.allocation.has_value(); }));
  const auto areSame = [&](const auto& x, const auto& y) { return variables.areSame(x, y); };
  return std::ranges::equal(a.gridFormulas, b.gridFormulas, areSame) &&
         std::ranges::equal(a.conditions, b.conditions, areSame) &&
         std::ranges::equal(a.blockFormulas, b.blockFormulas, areSame) &&
         std::ranges::equal(a.arguments, b.arguments, areSame, &Argument::formula, &Argument::formula);
}

} // namespace kcheck
