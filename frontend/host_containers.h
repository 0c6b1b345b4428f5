// Standard containers in host code, as far as its text fixes how many elements they have:
// `std::vector<float> v(n); cudaMalloc(&d, v.size() * sizeof(float));`.
#pragma once

namespace clang {
class CXXMemberCallExpr;
class Expr;
class QualType;
} // namespace clang

namespace kcheck::frontend {

/// A vector of the standard library or of Thrust, or a reference to one.
bool isCounted(const clang::QualType& type);

/// What a method of such a container does to the number of its elements.
struct SizeEffect {
  bool keeps = false;                ///< and hands out no way to change it
  const clang::Expr* sets = nullptr; ///< it is then this number
};
SizeEffect sizeEffect(const clang::CXXMemberCallExpr& call);

/// Whether the call asks for the number of elements.
bool asksSize(const clang::CXXMemberCallExpr& call);

} // namespace kcheck::frontend
