// Evaluation with undefined behaviour tracked the way a compiler tracks poison.
#include "analyzer/expr/evaluate.h"

#include "analyzer/expr/fold.h"

#include <algorithm>
#include <unordered_set>

namespace kcheck::analyzer {

std::int64_t Assignment::of(const Symbol* symbol) const {
  auto found = symbols.find(symbol);
  if (found != symbols.end()) return normalize(found->second, symbol->width);
  Int near = symbol->lo > 0 ? symbol->lo : symbol->hi < 0 ? symbol->hi : Int(0);
  return normalize(std::int64_t(near), symbol->width);
}

std::int64_t Assignment::of(const Function* function, const std::vector<std::int64_t>& arguments) const {
  auto found = functions.find({function, arguments});
  if (found != functions.end()) return normalize(found->second, function->width);
  auto fallback = defaults.find(function);
  return fallback == defaults.end() ? 0 : normalize(fallback->second, function->width);
}

/// The mathematical value of an operand of a flagged sum: `x * -1` made by a subtraction is not reduced.
static Int summand(Expr operand, Int value, Int negated) {
  bool minus = operand->op == Op::Mul && isConst(operand->operands[1], -1) && (operand->flags & NoSignedWrap);
  return minus ? -negated : value;
}

static bool wraps(Op op, std::uint8_t flags, unsigned width, Int sa, Int sb, std::uint64_t ua,
                  std::uint64_t ub) {
  auto outside = [&](Int v) { return v < signedMin(width) || v > signedMax(width); };
  // An unsigned product of 64-bit values needs 128 bits without sign.
  auto above = [&](unsigned __int128 v) { return v >> width != 0; };
  switch (op) {
  case Op::Add:
    return ((flags & NoSignedWrap) && outside(sa + sb)) ||
           ((flags & NoUnsignedWrap) && above((unsigned __int128)ua + ub));
  case Op::Mul:
    return ((flags & NoSignedWrap) && outside(sa * sb)) ||
           ((flags & NoUnsignedWrap) && above((unsigned __int128)ua * ub));
  case Op::Shl:
    if (ub >= width) return flags != NoFlags;
    return ((flags & NoSignedWrap) && outside(sa * powerOfTwo(unsigned(ub)))) ||
           ((flags & NoUnsignedWrap) && above((unsigned __int128)ua << ub));
  default: return false;
  }
}

Value Evaluator::operator()(Expr e) {
  bottomUp(e, [&](Expr n) { return memo.count(n) != 0; }, [&](Expr n) { memo.emplace(n, node(n)); });
  return memo.at(e);
}

Value Evaluator::logic(Expr e) const {
  Value a = memo.at(e->operands[0]), b = memo.at(e->operands[1]);
  std::int64_t decisive = e->op == Op::And ? 0 : 1;
  if (e->op != Op::Xor)
    for (const Value& v : {a, b})
      if (v.value == decisive && !v.undefined) return v;
  return {fold(e->op, 1, a.value, b.value), a.undefined || b.undefined};
}

Value Evaluator::arithmetic(Expr e) const {
  Expr x = e->operands[0], y = e->operands[1];
  unsigned width = x->width;
  Value a = memo.at(x), b = memo.at(y);
  Value result{fold(e->op, width, a.value, b.value), a.undefined || b.undefined};
  if (e->op >= Op::UDiv && e->op <= Op::SRem) {
    bool overflow = (e->op == Op::SDiv || e->op == Op::SRem) && signExtend(b.value, width) == -1 &&
                    signExtend(a.value, width) == std::int64_t(signedMin(width));
    if (zeroExtend(b.value, width) == 0 || overflow) result.undefined = true;
  }
  if (e->op >= Op::Shl && e->op <= Op::AShr && zeroExtend(b.value, width) >= width) result.undefined = true;
  bool negation = e->op == Op::Mul && isConst(y, -1);
  if (e->flags != NoFlags && !negation) {
    Int sa = signExtend(a.value, width), sb = signExtend(b.value, width);
    if (e->op == Op::Add) {
      auto inner = [&](Expr o) {
        return o->op == Op::Mul ? Int(signExtend(memo.at(o->operands[0]).value, width)) : Int(0);
      };
      sa = summand(x, sa, inner(x));
      sb = summand(y, sb, inner(y));
    }
    if (wraps(e->op, e->flags, width, sa, sb, zeroExtend(a.value, width), zeroExtend(b.value, width)))
      result.undefined = true;
  }
  return result;
}

Value Evaluator::node(Expr e) {
  auto operand = [&](std::size_t i) { return memo.at(e->operands[i]); };
  switch (e->op) {
  case Op::Const: return {e->value, false};
  case Op::Symbol: return {assignment->of(e->symbol), false};
  case Op::Apply: {
    Value result;
    std::vector<std::int64_t> arguments;
    for (Expr o : e->operands) {
      Value v = memo.at(o);
      arguments.push_back(v.value);
      result.undefined |= v.undefined;
    }
    const auto entry = arguments.size() == 1 ? e->function->table.at(arguments[0]) : std::nullopt;
    result.value = entry ? *entry : assignment->of(e->function, arguments);
    return result;
  }
  case Op::ZExt:
  case Op::SExt:
    return {foldExtend(e->op, e->width, e->operands[0]->width, operand(0).value), operand(0).undefined};
  case Op::Trunc: {
    unsigned from = e->operands[0]->width;
    Value v = operand(0), result{foldExtend(e->op, e->width, from, v.value), v.undefined};
    if ((e->flags & NoSignedWrap) && signExtend(v.value, from) != signExtend(result.value, e->width))
      result.undefined = true;
    if ((e->flags & NoUnsignedWrap) && zeroExtend(v.value, from) != zeroExtend(result.value, e->width))
      result.undefined = true;
    return result;
  }
  case Op::Ite: {
    Value condition = operand(0), chosen = condition.value ? operand(1) : operand(2);
    return {chosen.value, condition.undefined || chosen.undefined};
  }
  case Op::And:
  case Op::Or:
  case Op::Xor:
    if (e->width == 1) return logic(e);
    [[fallthrough]];
  default: return arithmetic(e);
  }
}

Value evaluate(Expr e, const Assignment& assignment) { return Evaluator(assignment)(e); }

bool satisfies(const Assignment& values, const std::vector<Expr>& constraints) {
  Evaluator evaluate(values);
  const bool hold = std::all_of(constraints.begin(), constraints.end(), [&](Expr e) {
    const Value v = evaluate(e);
    return v.value == 1 && !v.undefined;
  });
  return hold && keepsApart(constraints, evaluate);
}

/// Whether ascending functions ascend.
static bool keepsOrder(const std::unordered_set<Expr>& nodes, Evaluator& evaluate) {
  struct Point {
    std::int64_t at, value;
  };
  std::map<std::pair<const Function*, std::vector<std::int64_t>>, std::vector<Point>> known; // by key
  for (Expr n : nodes) {
    if (n->op != Op::Apply || !n->function->ascends) continue;
    std::vector<std::int64_t> keys;
    for (unsigned i = 0; i < n->function->keys; ++i) keys.push_back(evaluate(n->operands[i]).value);
    known[{n->function, keys}].push_back({evaluate(n->operands.back()).value, evaluate(n).value});
  }
  for (auto& [key, points] : known) {
    std::ranges::sort(points, {}, &Point::at);
    if (!std::ranges::is_sorted(points, {}, &Point::value)) return false;
  }
  return true;
}

bool keepsApart(const std::vector<Expr>& roots, Evaluator& evaluate) {
  // The values of keys and result, and of all operands.
  std::map<std::pair<const Function*, std::vector<std::int64_t>>, std::vector<std::int64_t>> known;
  std::unordered_set<Expr> seen;
  bool apart = true;
  auto visit = [&](Expr n) {
    seen.insert(n);
    if (n->op != Op::Apply || !n->function->injective) return;
    std::vector<std::int64_t> all, result;
    for (Expr operand : n->operands) all.push_back(evaluate(operand).value);
    result.assign(all.begin(),
                  all.begin() + std::ptrdiff_t(std::min<std::size_t>(n->function->keys, all.size())));
    result.push_back(evaluate(n).value);
    auto [place, isNew] = known.try_emplace({n->function, result}, all);
    apart = apart && (isNew || place->second == all);
  };
  for (Expr root : roots) bottomUp(root, [&](Expr n) { return seen.count(n) != 0; }, visit);
  return apart && keepsOrder(seen, evaluate);
}

} // namespace kcheck::analyzer
