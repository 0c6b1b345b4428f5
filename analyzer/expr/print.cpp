// Expressions as a CUDA programmer would write them. Widths are left out, but for casts that change a value.
#include "analyzer/expr/expr.h"
#include "analyzer/expr/fold.h"

namespace kcheck::analyzer {

const char* toString(Op op) {
  static const char* const names[] = {"const", "symbol", "apply", "+",  "*",   "/u", "/",  "%u",
                                      "%",     "<<",     ">>u",   ">>", "&",   "|",  "^",  "zext",
                                      "sext",  "trunc",  "==",    "<u", "<=u", "<",  "<=", "?:"};
  return names[std::size_t(op)];
}

namespace {

/// Binding strength as in C; higher binds tighter.
int strength(Op op) {
  switch (op) {
  case Op::Mul:
  case Op::UDiv:
  case Op::SDiv:
  case Op::URem:
  case Op::SRem: return 10;
  case Op::Add: return 9;
  case Op::Shl:
  case Op::LShr:
  case Op::AShr: return 8;
  case Op::Ult:
  case Op::Ule:
  case Op::Slt:
  case Op::Sle: return 7;
  case Op::Eq: return 6;
  case Op::And: return 5;
  case Op::Xor: return 4;
  case Op::Or: return 3;
  case Op::Ite: return 1;
  default: return 20;
  }
}

std::string print(Expr e, unsigned depth, int outer);

std::string infix(Expr e, unsigned depth, const std::string& sign) {
  int own = strength(e->op);
  return print(e->operands[0], depth, own) + " " + sign + " " + print(e->operands[1], depth, own + 1);
}

std::string sum(Expr e, unsigned depth) {
  Expr a = e->operands[0], b = e->operands[1];
  if (isConst(b) && b->value < 0 && Int(b->value) > signedMin(64))
    return print(a, depth, 9) + " - " + std::to_string(-b->value);
  auto negated = [](Expr x) { return x->op == Op::Mul && isConst(x->operands[1], -1); };
  if (negated(a) && !negated(b)) std::swap(a, b);
  if (negated(b)) return print(a, depth, 9) + " - " + print(b->operands[0], depth, 10);
  return print(a, depth, 9) + " + " + print(b, depth, 10);
}

std::string negation(Expr e, unsigned depth) {
  Expr x = e->operands[0];
  if (x->op == Op::Eq) return infix(x, depth, "!=");
  return "!" + print(x, depth, 15);
}

std::string call(Expr e, unsigned depth) {
  std::string text = e->function->name + "(";
  for (std::size_t i = 0; i < e->operands.size(); ++i)
    text += (i ? ", " : "") + print(e->operands[i], depth, 0);
  return text + ")";
}

std::string print(Expr e, unsigned depth, int outer) {
  if (e->op == Op::Const) return e->width == 1 ? (e->value ? "true" : "false") : std::to_string(e->value);
  if (e->op == Op::Symbol) return e->symbol->name;
  if (depth == 0) return "..";
  --depth;
  if (e->op == Op::Apply) return call(e, depth);
  if (e->op == Op::ZExt || e->op == Op::SExt) return print(e->operands[0], depth, outer);
  if (e->op == Op::Trunc) return "(int" + std::to_string(e->width) + ")" + print(e->operands[0], depth, 15);
  if (e->op == Op::Xor && e->width == 1 && isConst(e->operands[1], 1)) {
    std::string text = negation(e, depth);
    return outer > 6 ? "(" + text + ")" : text;
  }
  std::string text;
  if (e->op == Op::Add)
    text = sum(e, depth);
  else if (e->op == Op::Mul && isConst(e->operands[1], -1))
    text = "-" + print(e->operands[0], depth, 15);
  else if (e->op == Op::Ite)
    text = print(e->operands[0], depth, 2) + " ? " + print(e->operands[1], depth, 2) + " : " +
           print(e->operands[2], depth, 1);
  else if (e->width == 1 && e->op == Op::And)
    text = infix(e, depth, "&&");
  else if (e->width == 1 && e->op == Op::Or)
    text = infix(e, depth, "||");
  else
    text = infix(e, depth, toString(e->op));
  return strength(e->op) < outer ? "(" + text + ")" : text;
}

} // namespace

std::string toString(Expr e, unsigned depth) { return e ? print(e, depth, 0) : "?"; }

} // namespace kcheck::analyzer
