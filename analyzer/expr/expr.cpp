// The expression context (symbols, functions, the hash-consing table) and the walks over expressions.
#include "analyzer/expr/expr.h"

#include "analyzer/expr/fold.h"
#include "analyzer/expr/simplifier.h"

#include <algorithm>
#include <cassert>
#include <set>

namespace kcheck::analyzer {

std::size_t NodeTable::Hash::operator()(const Node* n) const {
  std::size_t h = std::size_t(n->op) * 31 + n->width * 7919 + n->flags;
  auto mix = [&](std::size_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15ull + (h >> 29); };
  mix(std::size_t(n->value));
  mix(std::size_t(n->symbol));
  mix(std::size_t(n->function));
  for (Expr o : n->operands) mix(o->id);
  return h;
}

bool NodeTable::Same::operator()(const Node* a, const Node* b) const {
  return a->op == b->op && a->flags == b->flags && a->width == b->width && a->value == b->value &&
         a->symbol == b->symbol && a->function == b->function && a->operands == b->operands;
}

Expr NodeTable::intern(Op op, unsigned width, std::vector<Expr> operands, std::int64_t value,
                       std::uint8_t flags, const Symbol* symbol, const Function* function) {
  assert(width >= 1 && width <= 64);
  Node node{op,     flags,    std::uint16_t(width), unsigned(nodes.size()), value,
            symbol, function, std::move(operands)};
  auto found = known.find(&node);
  if (found != known.end()) return *found;
  nodes.push_back(std::move(node));
  known.insert(&nodes.back());
  return &nodes.back();
}

struct ExprContext::Impl {
  NodeTable table;
  Simplifier simplifier{table};
  std::deque<Symbol> symbols;
  std::deque<Function> functions;
  std::unordered_map<std::string, Symbol*> symbolsByName;
  std::unordered_map<std::string, Function*> functionsByName;
};

ExprContext::ExprContext() : impl(std::make_unique<Impl>()) {}
ExprContext::~ExprContext() = default;

Symbol* ExprContext::symbol(const std::string& name, unsigned width, SymbolKind kind, Int lo, Int hi) {
  auto [entry, isNew] = impl->symbolsByName.try_emplace(name, nullptr);
  if (!isNew) return entry->second;
  Symbol s;
  s.name = name;
  s.id = unsigned(impl->symbols.size());
  s.width = width;
  s.kind = kind;
  s.lo = lo;
  s.hi = hi;
  s.varies = kind == SymbolKind::ThreadIdx  ? Varies::ByThread
             : kind == SymbolKind::BlockIdx ? Varies::ByBlock
                                            : Varies::Never;
  impl->symbols.push_back(std::move(s));
  return entry->second = &impl->symbols.back();
}

Symbol* ExprContext::symbol(const std::string& name, unsigned width, SymbolKind kind) {
  if (width == 1) return symbol(name, width, kind, 0, 1);
  return symbol(name, width, kind, signedMin(width), signedMax(width));
}

Function* ExprContext::function(const std::string& name, unsigned width) {
  auto [entry, isNew] = impl->functionsByName.try_emplace(name, nullptr);
  if (!isNew) return entry->second;
  Function f;
  f.name = name;
  f.id = unsigned(impl->functions.size());
  f.width = width;
  impl->functions.push_back(std::move(f));
  return entry->second = &impl->functions.back();
}

Expr ExprContext::constant(unsigned width, std::int64_t value) {
  return impl->simplifier.constant(width, value);
}

Expr ExprContext::of(const Symbol* symbol) {
  if (symbol->lo == symbol->hi && symbol->kind != SymbolKind::Object)
    return constant(symbol->width, std::int64_t(symbol->lo));
  return impl->table.intern(Op::Symbol, symbol->width, {}, 0, 0, symbol);
}

Expr ExprContext::apply(const Function* function, std::vector<Expr> operands) {
  return impl->table.intern(Op::Apply, function->width, std::move(operands), 0, 0, nullptr, function);
}

Expr ExprContext::binary(Op op, Expr left, Expr right, std::uint8_t flags) {
  assert(isBinary(op) && left->width == right->width);
  return impl->simplifier.binary(op, left, right, flags);
}

Expr ExprContext::extend(Op op, unsigned width, Expr operand, std::uint8_t flags) {
  assert(isExtension(op));
  return impl->simplifier.extend(op, width, operand, flags);
}

Expr ExprContext::ite(Expr condition, Expr then, Expr otherwise) {
  assert(condition->width == 1 && then->width == otherwise->width);
  return impl->simplifier.ite(condition, then, otherwise);
}

Expr ExprContext::sub(Expr a, Expr b, std::uint8_t flags) {
  if (a == b) return constant(a->width, 0);
  // `nuw` of a difference says a >= b, which a sum cannot express.
  std::uint8_t keep = flags & NoSignedWrap;
  if (isConst(b)) {
    bool least = Int(b->value) == signedMin(b->width);
    return add(a, constant(b->width, std::int64_t(0 - std::uint64_t(b->value))),
               least ? std::uint8_t(0) : keep);
  }
  if (b->width == 1) return add(a, b);
  return add(a, mul(b, constant(b->width, -1), keep), keep);
}

Expr ExprContext::rebuild(Expr like, std::vector<Expr> operands) {
  assert(operands.size() == like->operands.size());
  if (like->op == Op::Apply) return apply(like->function, std::move(operands));
  if (like->op == Op::Ite) return ite(operands[0], operands[1], operands[2]);
  if (isExtension(like->op)) return extend(like->op, like->width, operands[0], like->flags);
  if (operands.empty()) return like;
  return binary(like->op, operands[0], operands[1], like->flags);
}

std::size_t ExprContext::size() const { return impl->table.size(); }
const std::deque<Symbol>& ExprContext::symbols() const { return impl->symbols; }
const std::deque<Function>& ExprContext::functions() const { return impl->functions; }

bool isConst(Expr e, std::int64_t value) {
  return e->op == Op::Const && e->value == normalize(value, e->width);
}

std::vector<Expr> conjunctsOf(Expr condition) {
  std::vector<Expr> result, stack{condition};
  std::unordered_set<Expr> seen;
  while (!stack.empty()) {
    Expr e = stack.back();
    stack.pop_back();
    if (!seen.insert(e).second) continue;
    if (e->op == Op::And && e->width == 1) {
      stack.push_back(e->operands[1]);
      stack.push_back(e->operands[0]);
    } else {
      result.push_back(e);
    }
  }
  return result;
}

void bottomUp(Expr root, const std::function<bool(Expr)>& known, const std::function<void(Expr)>& visit) {
  std::vector<std::pair<Expr, std::size_t>> stack;
  std::unordered_set<Expr> done;
  auto enter = [&](Expr e) {
    if (!done.count(e) && !known(e)) stack.emplace_back(e, 0);
  };
  enter(root);
  while (!stack.empty()) {
    auto& [e, next] = stack.back();
    if (next < e->operands.size()) {
      enter(e->operands[next++]);
      continue;
    }
    Expr finished = e;
    stack.pop_back();
    if (done.insert(finished).second) visit(finished);
  }
}

Expr Substitution::operator()(Expr e) {
  if (map.empty()) return e;
  auto image = [&](Expr n) {
    auto direct = map.find(n);
    return direct != map.end() ? direct->second : memo.at(n);
  };
  bottomUp(
      e, [&](Expr n) { return map.count(n) || memo.count(n); },
      [&](Expr n) {
        bool changed = false;
        std::vector<Expr> operands;
        for (Expr o : n->operands) {
          operands.push_back(image(o));
          changed |= operands.back() != o;
        }
        memo.emplace(n, changed ? context->rebuild(n, std::move(operands)) : n);
      });
  return image(e);
}

bool anyNode(Expr e, const std::function<bool(Expr)>& visit) {
  std::unordered_set<Expr> seen;
  std::vector<Expr> stack{e};
  while (!stack.empty()) {
    Expr n = stack.back();
    stack.pop_back();
    if (!seen.insert(n).second) continue;
    if (visit(n)) return true;
    stack.insert(stack.end(), n->operands.begin(), n->operands.end());
  }
  return false;
}

Table::Table(std::vector<std::int64_t> all, std::int64_t step) : entries(std::move(all)), step(step) {
  if (empty()) return;
  const auto [lowest, highest] = std::ranges::minmax(entries);
  least = lowest;
  most = highest;
}

std::optional<std::int64_t> Table::at(std::int64_t place) const {
  const bool isOne = place >= 0 && place % step == 0 && place / step < std::int64_t(entries.size());
  return isOne ? std::optional(entries[std::size_t(place / step)]) : std::nullopt;
}

Varies variesOf(Expr e) {
  Varies result = Varies::Never;
  anyNode(e, [&](Expr n) {
    Varies own = n->op == Op::Symbol  ? n->symbol->varies
                 : n->op == Op::Apply ? n->function->varies
                                      : Varies::Never;
    result = std::max(result, own);
    return result == Varies::ByThread;
  });
  return result;
}

bool followsKept(Expr e) {
  return e && anyNode(e, [](Expr n) {
           return (n->op == Op::Apply && n->function->isKept) || (n->op == Op::Symbol && n->symbol->isKept);
         });
}

bool isOfIndices(Expr e) {
  return causesOf(e).empty() && !anyNode(e, [](Expr n) {
           return n->op == Op::Apply || (n->op == Op::Symbol && n->symbol->kind == SymbolKind::Parameter);
         });
}

std::vector<Cause> causesOf(Expr e) {
  std::set<Cause> causes;
  auto add = [&](const Cause& cause, const std::string& name) {
    causes.insert(cause.text.empty() ? Cause{cause.kind, name} : cause);
  };
  anyNode(e, [&](Expr n) {
    if (n->op == Op::Symbol && !n->symbol->exact) add(n->symbol->cause, n->symbol->name);
    if (n->op == Op::Apply && !n->function->exact) add(n->function->cause, n->function->name);
    return false;
  });
  return {causes.begin(), causes.end()};
}

} // namespace kcheck::analyzer
