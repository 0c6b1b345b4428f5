// setp and set.
#include "ptx/arithmetic.h"

namespace kcheck::ptx {

namespace {

using Predicate = llvm::CmpInst::Predicate;

std::optional<Predicate> comparison(const std::string& name, const Type& type) {
  if (type.isFloat()) {
    static const std::map<std::string, Predicate> floats = {
        {"eq", Predicate::FCMP_OEQ},  {"ne", Predicate::FCMP_ONE},  {"lt", Predicate::FCMP_OLT},
        {"le", Predicate::FCMP_OLE},  {"gt", Predicate::FCMP_OGT},  {"ge", Predicate::FCMP_OGE},
        {"equ", Predicate::FCMP_UEQ}, {"neu", Predicate::FCMP_UNE}, {"ltu", Predicate::FCMP_ULT},
        {"leu", Predicate::FCMP_ULE}, {"gtu", Predicate::FCMP_UGT}, {"geu", Predicate::FCMP_UGE},
        {"num", Predicate::FCMP_ORD}, {"nan", Predicate::FCMP_UNO}};
    auto found = floats.find(name);
    return found == floats.end() ? std::nullopt : std::optional(found->second);
  }
  bool isSigned = type.isSigned();
  if (name == "eq") return Predicate::ICMP_EQ;
  if (name == "ne") return Predicate::ICMP_NE;
  if (name == "lt" || name == "lo") return isSigned ? Predicate::ICMP_SLT : Predicate::ICMP_ULT;
  if (name == "le" || name == "ls") return isSigned ? Predicate::ICMP_SLE : Predicate::ICMP_ULE;
  if (name == "gt" || name == "hi") return isSigned ? Predicate::ICMP_SGT : Predicate::ICMP_UGT;
  if (name == "ge" || name == "hs") return isSigned ? Predicate::ICMP_SGE : Predicate::ICMP_UGE;
  return std::nullopt;
}

/// The lane's comparison, joined with a further predicate when the opcode names and, or or xor.
llvm::Value* compare(Builder& p, const Statement& s, const Type& type, unsigned lane, std::size_t first) {
  auto op = comparison(s.opcode[1], type);
  if (!op) return nullptr;
  auto side = [&](std::size_t i) {
    auto* word = p.b.CreateLShr(p.bits(s.operands[i], type), lane * type.bits);
    auto* value = toValue(p.b, p.b.CreateTrunc(word, p.b.getIntNTy(type.bits)), type.element());
    return s.has("ftz") ? flushed(p.b, value, type) : value;
  };
  llvm::Value* holds = p.b.CreateCmp(*op, side(first), side(first + 1));
  if (s.operands.size() <= first + 2) return holds;
  llvm::Value* other = p.predicate(s.operands[first + 2]);
  if (s.has("and")) return p.b.CreateAnd(holds, other);
  if (s.has("or")) return p.b.CreateOr(holds, other);
  return s.has("xor") ? p.b.CreateXor(holds, other) : nullptr;
}

/// setp.CMP[.BOOL][.ftz].TYPE p[|q], a, b[, c]
bool setPredicate(Builder& p, const Statement& s) {
  auto type = typeNamed(s.type());
  if (!type || s.opcode.size() < 3 || s.operands.size() < 3) return false;
  auto* first = compare(p, s, *type, 0, 1);
  if (!first) return false;
  const Operand& target = s.operands[0];
  if (target.kind != Operand::Kind::Pair) {
    p.write(target, first);
    return type->lanes == 1;
  }
  // With pairs of halves q is the upper comparison; otherwise the negation.
  llvm::Value* second = type->lanes == 2 ? compare(p, s, *type, 1, 1) : p.b.CreateNot(first);
  p.write(target.parts[0], first);
  p.write(target.parts[1], second);
  return true;
}

/// set.CMP[.BOOL][.ftz].DTYPE.STYPE d, a, b[, c]: 1.0 or all ones where it holds
bool setValue(Builder& p, const Statement& s) {
  if (s.opcode.size() < 4 || s.operands.size() < 3) return false;
  auto to = typeNamed(s.opcode[s.opcode.size() - 2]), from = typeNamed(s.type());
  if (!to || !from) return false;
  unsigned bits = to->width() / from->lanes;
  std::uint64_t truth = ~std::uint64_t{0};
  if (to->isFloat())
    truth = to->kind == Type::Kind::BFloat ? 0x3f80
            : bits == 16                   ? 0x3c00
            : bits == 32                   ? 0x3f800000
                                           : 0x3ff0000000000000;
  auto* word = p.b.getIntNTy(to->width());
  llvm::Value* all = llvm::ConstantInt::get(word, 0);
  for (unsigned lane = 0; lane < from->lanes; ++lane) {
    auto* holds = compare(p, s, *from, lane, 1);
    if (!holds) return false;
    auto* one = p.b.getInt(llvm::APInt(64, truth).zextOrTrunc(bits));
    auto* chosen = p.b.CreateSelect(holds, one, llvm::ConstantInt::get(one->getType(), 0));
    all = p.b.CreateOr(all, p.b.CreateShl(p.b.CreateZExt(chosen, word), lane * bits));
  }
  p.write(s.operands[0], all);
  return true;
}

} // namespace

void addComparisons(Rules& rules) {
  rules["setp"] = setPredicate;
  rules["set"] = setValue;
}

} // namespace kcheck::ptx
