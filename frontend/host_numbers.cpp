#include "frontend/host_numbers.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include <cmath>

namespace kcheck::frontend {

std::optional<Number> fit(Number value, clang::QualType type, const clang::ASTContext& ast) {
  if (type->isBooleanType()) return ofInteger(value.asReal() != 0);
  if (type->isRealFloatingType()) {
    const bool single = type->isSpecificBuiltinType(clang::BuiltinType::Float);
    return ofReal(single ? double(float(value.asReal())) : value.asReal());
  }
  if (!type->isIntegralOrEnumerationType()) return std::nullopt;
  if (value.isFloat) {
    if (!(std::fabs(value.real) < 9e18)) return std::nullopt;
    value = ofInteger(std::int64_t(value.real));
  }
  const unsigned width = unsigned(ast.getTypeSize(type));
  const llvm::APInt wide(64, std::uint64_t(value.integer));
  if (width >= 64) return value;
  const llvm::APInt narrow = wide.trunc(width);
  return ofInteger(type->isSignedIntegerOrEnumerationType() ? narrow.getSExtValue()
                                                            : std::int64_t(narrow.getZExtValue()));
}

namespace {

std::optional<Number> realBinary(const clang::BinaryOperator& op, double a, double b,
                                 const clang::ASTContext& ast) {
  switch (op.getOpcode()) {
  case clang::BO_Add: return fit(ofReal(a + b), op.getType(), ast);
  case clang::BO_Sub: return fit(ofReal(a - b), op.getType(), ast);
  case clang::BO_Mul: return fit(ofReal(a * b), op.getType(), ast);
  case clang::BO_Div: return fit(ofReal(a / b), op.getType(), ast);
  case clang::BO_LT: return ofInteger(a < b);
  case clang::BO_GT: return ofInteger(a > b);
  case clang::BO_LE: return ofInteger(a <= b);
  case clang::BO_GE: return ofInteger(a >= b);
  case clang::BO_EQ: return ofInteger(a == b);
  case clang::BO_NE: return ofInteger(a != b);
  default: return std::nullopt;
  }
}

std::optional<Number> integerBinary(const clang::BinaryOperator& op, std::int64_t a, std::int64_t b,
                                    const clang::ASTContext& ast) {
  const clang::QualType operand = op.getLHS()->getType();
  const bool isUnsigned = operand->isUnsignedIntegerOrEnumerationType();
  const auto ua = std::uint64_t(a), ub = std::uint64_t(b);
  const auto wrapped = [&](std::uint64_t value) {
    return fit(ofInteger(std::int64_t(value)), op.getType(), ast);
  };
  const auto less = [&] { return isUnsigned ? ua < ub : a < b; };
  switch (op.getOpcode()) {
  case clang::BO_Add: return wrapped(ua + ub);
  case clang::BO_Sub: return wrapped(ua - ub);
  case clang::BO_Mul: return wrapped(ua * ub);
  case clang::BO_Div:
    if (b == 0 || (!isUnsigned && b == -1)) return std::nullopt;
    return wrapped(isUnsigned ? ua / ub : std::uint64_t(a / b));
  case clang::BO_Rem:
    if (b == 0 || (!isUnsigned && b == -1)) return std::nullopt;
    return wrapped(isUnsigned ? ua % ub : std::uint64_t(a % b));
  case clang::BO_Shl: return b < 0 || b > 63 ? std::nullopt : wrapped(ua << b);
  case clang::BO_Shr:
    return b < 0 || b > 63 ? std::nullopt : wrapped(isUnsigned ? ua >> b : std::uint64_t(a >> b));
  case clang::BO_And: return wrapped(ua & ub);
  case clang::BO_Or: return wrapped(ua | ub);
  case clang::BO_Xor: return wrapped(ua ^ ub);
  case clang::BO_LAnd: return ofInteger(a != 0 && b != 0);
  case clang::BO_LOr: return ofInteger(a != 0 || b != 0);
  case clang::BO_LT: return ofInteger(less());
  case clang::BO_GE: return ofInteger(!less());
  case clang::BO_GT: return ofInteger(a != b && !less());
  case clang::BO_LE: return ofInteger(a == b || less());
  case clang::BO_EQ: return ofInteger(a == b);
  case clang::BO_NE: return ofInteger(a != b);
  default: return std::nullopt;
  }
}

} // namespace

std::optional<Number> combine(const clang::BinaryOperator& op, Number left, Number right,
                              const clang::ASTContext& ast) {
  if (left.isFloat || right.isFloat) return realBinary(op, left.asReal(), right.asReal(), ast);
  return integerBinary(op, left.integer, right.integer, ast);
}

} // namespace kcheck::frontend
