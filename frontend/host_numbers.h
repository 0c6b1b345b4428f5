// Numbers as host code computes them: wrapped to the type that holds them.
#pragma once

#include <cstdint>
#include <optional>

namespace clang {
class ASTContext;
class BinaryOperator;
class QualType;
} // namespace clang

namespace kcheck::frontend {

struct Number {
  bool isFloat = false;
  std::int64_t integer = 0;
  double real = 0;
  double asReal() const { return isFloat ? real : double(integer); }
  friend bool operator==(const Number&, const Number&) = default;
};

inline Number ofInteger(std::int64_t value) { return {false, value, 0}; }
inline Number ofReal(double value) { return {true, 0, value}; }

/// A number as a variable of `type` holds it.
std::optional<Number> fit(Number value, clang::QualType type, const clang::ASTContext& ast);
/// The value of `left op right`, for operators without side effects.
std::optional<Number> combine(const clang::BinaryOperator& op, Number left, Number right,
                              const clang::ASTContext& ast);

} // namespace kcheck::frontend
