// Expressions as Z3 terms, in one of two theories. Both are exact where they claim to be; what the integers
// cannot say is an unknown function with bounds, so that Unsat is always a proof.
#pragma once

#include "analyzer/smt/known_ranges.h"

#include <z3++.h>

namespace kcheck::analyzer::smt {

class Translator {
public:
  explicit Translator(z3::context& context) : context(context) {}
  virtual ~Translator() = default;

  z3::expr operator()(Expr e);
  /// That a sum, product, shift or truncation does not leave the signed numbers of its width.
  virtual z3::expr noWrap(Expr e) = 0;
  /// The variable that stands for a symbol.
  z3::expr variableOf(const Symbol& symbol);
  /// Bounds of symbols and the like that go with what was translated so far.
  const std::vector<z3::expr>& sideConditions() const { return side; }
  /// Applications translated so far, operands before users.
  const std::vector<Expr>& applications() const { return applied; }
  const z3::expr& known(Expr e) const { return memo.at(e); }
  bool has(Expr e) const { return memo.count(e) != 0; }

protected:
  virtual z3::expr number(Int value, unsigned width) = 0;
  virtual z3::expr variable(const std::string& name, unsigned width) = 0;
  virtual z3::sort sortOf(unsigned width) = 0;
  virtual z3::expr node(Expr e) = 0; ///< arithmetic of more than one bit
  virtual z3::expr compare(Expr e) = 0;
  virtual void bound(const z3::expr& term, Expr e) = 0;

  z3::expr operand(Expr e, unsigned i) const { return memo.at(e->operands[i]); }
  /// An unknown function of e's operands.
  z3::expr opaque(Expr e, const std::string& name);

  z3::context& context;
  std::vector<z3::expr> side;

private:
  z3::expr translate(Expr e);
  z3::expr logic(Expr e);
  z3::expr application(Expr e);
  void inTable(Expr e, const z3::expr& value);
  void inOrder(Expr e, const z3::expr& value, Expr other);
  std::unordered_map<Expr, z3::expr> memo;
  std::vector<Expr> applied;
};

std::unique_ptr<Translator> integerTranslator(z3::context& context, const KnownRanges& ranges);
std::unique_ptr<Translator> bitVectorTranslator(z3::context& context);

} // namespace kcheck::analyzer::smt
