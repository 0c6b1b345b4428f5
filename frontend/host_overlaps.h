// Whether two pointers of a launch may be one in some way to it, where they do not fold to buffers: the text
// gives them the same value by a choice, a copy under a condition or in a loop, or elements of a list. What
// the text does not show is no evidence.
#pragma once

#include "frontend/host_values.h"

#include <set>
#include <utility>
#include <vector>

namespace kcheck::frontend {

enum class Meeting : std::uint8_t { Never, AtOnePlace, Somewhere };

class HostOverlaps {
public:
  HostOverlaps(const clang::ASTContext& ast, const HostUses& uses, const HostValues& values)
      : ast(ast), uses(uses), values(values) {}

  /// As they are where `user` stands.
  Meeting meet(const clang::Expr& first, const clang::Expr& second, const clang::CallExpr& user,
               const ScopePointer& scope) const;

private:
  class Search;
  const clang::ASTContext& ast;
  const HostUses& uses;
  const HostValues& values;
};

} // namespace kcheck::frontend
