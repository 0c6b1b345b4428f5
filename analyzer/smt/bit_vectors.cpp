// Translation to bit-vectors: exact for every operation, slow on products of unknowns.
#include "analyzer/expr/fold.h"
#include "analyzer/smt/translator.h"

namespace kcheck::analyzer::smt {

namespace {

class BitVectors final : public Translator {
public:
  explicit BitVectors(z3::context& context) : Translator(context) {}

  z3::expr noWrap(Expr e) override {
    if (e->op == Op::Symbol || e->op == Op::Apply) return (*this)(e) >= number(0, e->width);
    Expr x = e->operands[0], y = e->operands.size() > 1 ? e->operands[1] : nullptr;
    if (e->op == Op::Trunc) return z3::sext((*this)(e), x->width - e->width) == known(x);
    if (e->op == Op::Shl) {
      z3::expr amount = operand(e, 1);
      return z3::ult(amount, number(e->width, e->width)) && z3::ashr((*this)(e), amount) == operand(e, 0);
    }
    if (e->op == Op::Mul) {
      if (isConst(y, -1)) return context.bool_val(true);
      return z3::bvmul_no_overflow(operand(e, 0), operand(e, 1), true) &&
             z3::bvmul_no_underflow(operand(e, 0), operand(e, 1));
    }
    auto isMinus = [](Expr o) { return o->op == Op::Mul && isConst(o->operands[1], -1); };
    if (isMinus(x)) std::swap(x, y);
    if (isMinus(y)) {
      z3::expr a = known(x), b = known(y->operands[0]);
      return z3::bvsub_no_overflow(a, b) && z3::bvsub_no_underflow(a, b, true);
    }
    return z3::bvadd_no_overflow(operand(e, 0), operand(e, 1), true) &&
           z3::bvadd_no_underflow(operand(e, 0), operand(e, 1));
  }

protected:
  z3::expr number(Int value, unsigned width) override {
    return context.bv_val(std::uint64_t(zeroExtend(std::int64_t(value), width)), width);
  }
  z3::expr variable(const std::string& name, unsigned width) override {
    return context.bv_const(name.c_str(), width);
  }
  z3::sort sortOf(unsigned width) override { return context.bv_sort(width); }

  void bound(const z3::expr& term, Expr e) override {
    if (e->op != Op::Symbol) return;
    const Symbol& s = *e->symbol;
    if (s.kind == SymbolKind::Object) return;
    if (s.hi > signedMax(e->width)) { // an unsigned range
      if (s.lo > 0) side.push_back(z3::uge(term, number(s.lo, e->width)));
      if (s.hi < powerOfTwo(e->width) - 1) side.push_back(z3::ule(term, number(s.hi, e->width)));
      return;
    }
    if (s.lo > signedMin(e->width)) side.push_back(term >= number(s.lo, e->width));
    if (s.hi < signedMax(e->width)) side.push_back(term <= number(s.hi, e->width));
  }

  z3::expr compare(Expr e) override {
    z3::expr a = operand(e, 0), b = operand(e, 1);
    switch (e->op) {
    case Op::Eq: return a == b;
    case Op::Ult: return z3::ult(a, b);
    case Op::Ule: return z3::ule(a, b);
    case Op::Slt: return a < b;
    default: return a <= b;
    }
  }

  z3::expr node(Expr e) override {
    z3::expr a = operand(e, 0);
    switch (e->op) {
    case Op::ZExt: return z3::zext(a, e->width - e->operands[0]->width);
    case Op::SExt: return z3::sext(a, e->width - e->operands[0]->width);
    case Op::Trunc:
      if (e->width == 1) return a.extract(0, 0) == context.bv_val(1, 1);
      return a.extract(e->width - 1, 0);
    default: break;
    }
    z3::expr b = operand(e, 1);
    switch (e->op) {
    case Op::Add: return a + b;
    case Op::Mul: return a * b;
    case Op::UDiv: return z3::udiv(a, b);
    case Op::SDiv: return a / b;
    case Op::URem: return z3::urem(a, b);
    case Op::SRem: return z3::srem(a, b);
    case Op::Shl: return z3::shl(a, b);
    case Op::LShr: return z3::lshr(a, b);
    case Op::AShr: return z3::ashr(a, b);
    case Op::And: return a & b;
    case Op::Or: return a | b;
    case Op::Xor: return a ^ b;
    default: return opaque(e, "other" + std::to_string(e->id));
    }
  }
};

} // namespace

std::unique_ptr<Translator> bitVectorTranslator(z3::context& context) {
  return std::make_unique<BitVectors>(context);
}

} // namespace kcheck::analyzer::smt
