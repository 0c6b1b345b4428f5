// What both theories share: leaves, logic, applications.
#include "analyzer/smt/translator.h"

#include "analyzer/expr/fold.h"

#include <algorithm>
#include <functional>

namespace kcheck::analyzer::smt {

z3::expr Translator::operator()(Expr e) {
  bottomUp(e, [&](Expr n) { return memo.count(n) != 0; }, [&](Expr n) { memo.emplace(n, translate(n)); });
  return memo.at(e);
}

z3::expr Translator::translate(Expr e) {
  switch (e->op) {
  case Op::Const: return e->width == 1 ? context.bool_val(e->value != 0) : number(e->value, e->width);
  case Op::Symbol: {
    z3::expr v = variableOf(*e->symbol);
    if (e->width > 1) bound(v, e);
    return v;
  }
  case Op::Apply: return application(e);
  case Op::Ite: return z3::ite(operand(e, 0), operand(e, 1), operand(e, 2));
  default: break;
  }
  if (isComparison(e->op)) return compare(e);
  if (e->width == 1 && e->op != Op::Trunc) return logic(e);
  return node(e);
}

z3::expr Translator::variableOf(const Symbol& symbol) {
  std::string name = "s" + std::to_string(symbol.id);
  return symbol.width == 1 ? context.bool_const(name.c_str()) : variable(name, symbol.width);
}

z3::expr Translator::logic(Expr e) {
  z3::expr a = operand(e, 0), b = operand(e, 1);
  switch (e->op) {
  case Op::And: return a && b;
  case Op::Or: return a || b;
  default: return isConst(e->operands[1], 1) ? !a : a != b;
  }
}

z3::expr Translator::opaque(Expr e, const std::string& name) {
  z3::sort_vector sorts(context);
  z3::expr_vector arguments(context);
  for (unsigned i = 0; i < e->operands.size(); ++i) {
    arguments.push_back(operand(e, i));
    sorts.push_back(operand(e, i).get_sort());
  }
  z3::sort result = e->width == 1 ? context.bool_sort() : sortOf(e->width);
  if (arguments.empty()) return context.constant(name.c_str(), result);
  return context.function(name.c_str(), sorts, result)(arguments);
}

z3::expr Translator::application(Expr e) {
  // The operand widths are part of the name: one function may be applied to values of several types.
  std::string name = "f" + std::to_string(e->function->id);
  for (Expr o : e->operands) name += "_" + std::to_string(o->width);
  z3::expr value = opaque(e, name);
  if (e->width > 1) {
    bound(value, e);
    if (!e->function->table.empty() && e->operands.size() == 1) inTable(e, value);
  }
  if (e->function->injective)
    for (Expr other : applied) {
      if (other->function != e->function || other->operands.size() != e->operands.size()) continue;
      z3::expr same = context.bool_val(true);
      z3::expr meets = value == memo.at(other);
      bool comparable = true;
      for (unsigned i = 0; i < e->operands.size(); ++i) {
        comparable &= e->operands[i]->width == other->operands[i]->width;
        if (!comparable) break;
        z3::expr& side = i < e->function->keys ? meets : same;
        side = side && operand(e, i) == operand(other, i);
      }
      if (comparable) side.push_back(z3::implies(meets, same));
    }
  if (e->function->ascends)
    for (Expr other : applied)
      if (other->function == e->function && other->operands.size() == e->operands.size())
        inOrder(e, value, other);
  applied.push_back(e);
  return value;
}

/// What the table says, entry by entry in halves.
void Translator::inTable(Expr e, const z3::expr& value) {
  const Table& table = e->function->table;
  const unsigned width = e->operands[0]->width;
  const z3::expr at = operand(e, 0);
  const auto place = [&](std::size_t i) { return number(Int(i) * table.step, width); };
  const auto entries = [&](const auto& self, std::size_t from, std::size_t to) -> z3::expr {
    const auto begin = table.entries.begin() + std::ptrdiff_t(from),
               end = table.entries.begin() + std::ptrdiff_t(to);
    if (std::adjacent_find(begin, end, std::not_equal_to<>()) == end) return number(*begin, e->width);
    const std::size_t middle = from + (to - from) / 2;
    return z3::ite(at < place(middle), self(self, from, middle), self(self, middle, to));
  };
  side.push_back(z3::implies(at >= place(0) && at < place(table.entries.size()),
                             value == entries(entries, 0, table.entries.size())));
}

/// What two applications of an ascending function say of one another.
void Translator::inOrder(Expr e, const z3::expr& value, Expr other) {
  z3::expr same = context.bool_val(true);
  for (unsigned i = 0; i < e->function->keys; ++i) {
    if (e->operands[i]->width != other->operands[i]->width) return;
    same = same && operand(e, i) == operand(other, i);
  }
  const unsigned last = unsigned(e->operands.size()) - 1;
  if (e->operands[last]->width != other->operands[last]->width) return;
  const z3::expr &mine = operand(e, last), &theirs = operand(other, last), &known = memo.at(other);
  side.push_back(z3::implies(same && mine <= theirs, value <= known));
  side.push_back(z3::implies(same && theirs <= mine, known <= value));
}

} // namespace kcheck::analyzer::smt
