// How nodes come to be: the hash-consing table and the rewriting rules in front of it. Every rule keeps the
// value for all operands, and keeps a no-wrap flag only where the original flags imply it.
#pragma once

#include "analyzer/expr/expr.h"

#include <unordered_set>

namespace kcheck::analyzer {

/// Owns the nodes; equal nodes are made once.
class NodeTable {
public:
  Expr intern(Op op, unsigned width, std::vector<Expr> operands, std::int64_t value = 0,
              std::uint8_t flags = 0, const Symbol* symbol = nullptr, const Function* function = nullptr);
  std::size_t size() const { return nodes.size(); }

private:
  struct Hash {
    std::size_t operator()(const Node* n) const;
  };
  struct Same {
    bool operator()(const Node* a, const Node* b) const;
  };
  std::deque<Node> nodes;
  std::unordered_set<const Node*, Hash, Same> known;
};

/// A sum as coefficients (modulo 2^width) of terms that are no sums themselves.
struct LinearSum {
  std::vector<std::pair<Expr, std::uint64_t>> terms;
  std::uint64_t constant = 0;
  unsigned leaves = 0;   ///< summands before equal ones were joined
  bool allNoWrap = true; ///< every operation on the way carries NoSignedWrap
  Int exactConstant = 0; ///< the constant without reduction
  bool complete = true;  ///< false: too many summands, do not use
};

class Simplifier {
public:
  explicit Simplifier(NodeTable& table) : table(&table) {}

  Expr constant(unsigned width, std::int64_t value);
  Expr binary(Op op, Expr a, Expr b, std::uint8_t flags);
  Expr extend(Op op, unsigned width, Expr x, std::uint8_t flags);
  Expr ite(Expr condition, Expr then, Expr otherwise);
  Expr negate(Expr x); ///< of width 1

private:
  // simplify_arithmetic.cpp
  Expr add(Expr x, Expr y, std::uint8_t flags);
  Expr partsOfOne(Expr x, Expr y);
  Expr partsWithin(Expr x, Expr y, std::uint8_t flags);
  Expr withoutMinus(Expr e);
  Expr mul(Expr x, Expr y, std::uint8_t flags);
  Expr divide(Op op, Expr x, Expr y);
  Expr cancelled(Expr x, Expr y); ///< x + y with equal terms joined, or null when there are none
  void collect(Expr e, std::uint64_t factor, LinearSum& sum);
  Expr sumOf(const LinearSum& sum, unsigned width);
  Expr pushIntoIte(Op op, Expr x, Expr y, std::uint8_t flags);
  // simplify_bits.cpp
  Expr shift(Op op, Expr x, Expr y, std::uint8_t flags);
  Expr bitAnd(Expr x, Expr y);
  Expr bitOr(Expr x, Expr y);
  Expr putTogether(Expr whole);
  Expr bitXor(Expr x, Expr y);
  bool truncationIsFree(Expr x, unsigned width, unsigned depth);
  Expr truncate(unsigned width, Expr x, std::uint8_t flags);
  // simplify_logic.cpp
  Expr logic(Op op, Expr x, Expr y); ///< And, Or, Xor of width 1
  Expr joined(Op op, Expr x, Expr y);
  Expr factored(Op op, Expr x, Expr y);
  Expr compare(Op op, Expr x, Expr y);
  Expr compareWithConstant(Op op, Expr x, Expr y);
  Expr compareExtensions(Op op, Expr x, Expr y);
  Expr compareWithExtremum(Op op, Expr x, Expr y);
  Expr equal(Expr x, Expr y);
  Expr logicOfNarrow(Op op, Expr x, Expr y); ///< arithmetic on single bits
  bool areOpposite(Expr x, Expr y);
  Expr raw(Op op, unsigned width, Expr x, Expr y, std::uint8_t flags = 0);

  NodeTable* table;
  std::unordered_map<Expr, Expr> negations;
};

} // namespace kcheck::analyzer
