#include "analyzer/smt/strategy.h"

namespace kcheck::analyzer::smt {

namespace {

struct Choice {
  const char* probe;
  const char* tactic;
};

/// In the order in which Z3 asks, as far as queries of the translators come to it.
constexpr Choice choices[] = {{"is-propositional", "qffd"}, {"is-qfbv", "qfbv"},
                              {"is-qfaufbv", "qfaufbv"},    {"is-qflia", "qflia"},
                              {"is-qfauflia", "qfauflia"},  {"is-qfnia", "qfnia"}};

const char* tacticFor(const z3::goal& goal) {
  for (const Choice& choice : choices)
    if (z3::probe(goal.ctx(), choice.probe)(goal) != 0) return choice.tactic;
  return "smt";
}

} // namespace

z3::solver solverFor(const z3::expr_vector& assertions) {
  z3::context& context = assertions.ctx();
  z3::goal goal(context);
  for (const z3::expr& a : assertions) goal.add(a);
  const z3::tactic simplify(context, "simplify");
  const z3::apply_result simplified = simplify(goal); // of one goal
  z3::solver solver = (simplify & z3::tactic(context, tacticFor(simplified[0]))).mk_solver();
  for (const z3::expr& a : assertions) solver.add(a);
  return solver;
}

} // namespace kcheck::analyzer::smt
