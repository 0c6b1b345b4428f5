// What holds whenever host code comes to a launch: the branches on the way to it, in its own function and in
// those that call it, as conditions on the numbers that its shape and its arguments are made of.
#pragma once

#include "frontend/host_values.h"

namespace kcheck::frontend {

class HostConditions {
public:
  HostConditions(const clang::ASTContext& ast, const HostUses& uses, const HostValues& values,
                 const Buffers& buffers)
      : ast(ast), uses(uses), values(values), buffers(buffers) {}

  /// Adds those that have to do with the launch's numbers. `hidden`: what its shape and its arguments are
  /// made of that does not fold.
  void add(const clang::CallExpr& call, const ScopePointer& scope, std::span<const clang::Expr* const> hidden,
           std::span<const Allocation> allocations, Launch& launch) const;

private:
  struct Condition {
    std::optional<Formula> holds; ///< none: not followed
    const clang::Expr* asked = nullptr;
    ScopePointer scope;
  };
  using Found = std::vector<Condition>;
  using Origins = std::set<const clang::Decl*>;

  void collect(const Around& around, const ScopePointer& outer, Found& found) const;
  void collect(const Guard& guard, const ScopePointer& scope, Found& found) const;
  static void takeBearing(std::set<unsigned> variables, Found& found, Launch& launch);
  void addOrigins(const clang::Expr& expr, const ScopePointer& scope, Origins& origins) const;
  void addOrigins(const clang::VarDecl& variable, const ScopePointer& scope, Origins& origins) const;

  const clang::ASTContext& ast;
  const HostUses& uses;
  const HostValues& values;
  const Buffers& buffers;
};

} // namespace kcheck::frontend
