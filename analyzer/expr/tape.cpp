#include "analyzer/expr/tape.h"

#include "analyzer/expr/fold.h"

#include <cassert>

namespace kcheck::analyzer {

Tape::Tape(const std::vector<Expr>& roots) {
  std::unordered_map<Expr, std::uint32_t> places;
  for (Expr root : roots) {
    bottomUp(
        root, [&](Expr n) { return places.count(n) != 0; },
        [&](Expr n) {
          assert(n->op != Op::Apply);
          const auto at = std::uint32_t(values.size());
          places.emplace(n, at);
          values.push_back(n->op == Op::Const ? n->value : 0);
          if (n->op == Op::Const) return;
          if (n->op == Op::Symbol) {
            symbolAt.emplace(n->symbol, at);
            return;
          }
          Step step{n, {}};
          for (std::size_t i = 0; i < n->operands.size(); ++i) step.at[i] = places.at(n->operands[i]);
          steps.push_back(step);
          resultAt.push_back(at);
        });
    rootAt.push_back(places.at(root));
  }
}

void Tape::set(const Symbol* symbol, std::int64_t value) {
  if (auto at = symbolAt.find(symbol); at != symbolAt.end())
    values[at->second] = normalize(value, symbol->width);
}

void Tape::run() {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& [node, at] = steps[i];
    std::int64_t& result = values[resultAt[i]];
    if (node->op == Op::Ite)
      result = values[at[0]] ? values[at[1]] : values[at[2]];
    else if (isExtension(node->op))
      result = foldExtend(node->op, node->width, node->operands[0]->width, values[at[0]]);
    else
      result = fold(node->op, node->operands[0]->width, values[at[0]], values[at[1]]);
  }
}

} // namespace kcheck::analyzer
