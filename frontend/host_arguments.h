// What a launch passes for its parameters, as far as host code shows it: integers, pointers into buffers,
// members of structures, and counters of the loops around it.
#pragma once

#include "frontend/host_values.h"

#include <span>

namespace clang {
class FunctionDecl;
class RecordDecl;
} // namespace clang

namespace kcheck::frontend {

class HostArguments {
public:
  HostArguments(const clang::ASTContext& ast, const HostValues& values, Buffers& buffers)
      : ast(ast), values(values), buffers(buffers) {}

  std::vector<Argument> describe(std::span<const clang::Expr* const> passed, const ScopePointer& scope) const;
  /// `void* args[] = {&d, &n};`
  std::vector<Argument> describeArray(const clang::Expr& expr, unsigned count,
                                      const ScopePointer& scope) const;
  /// Nothing is open that another way to the launch could show.
  bool isComplete(const std::vector<Argument>& arguments, const clang::FunctionDecl& kernel) const;

private:
  Argument describe(const clang::Expr& expr, const ScopePointer& scope) const;
  void members(const clang::Expr& expr, std::vector<const clang::FieldDecl*>& path,
               const clang::RecordDecl& type, std::uint32_t at, const ScopePointer& scope,
               PassedValue& result) const;
  bool isWhole(const clang::RecordDecl& type, std::uint32_t at, const PassedValue& passed) const;
  /// A pointer that is read at a place which folds to no buffer: `buffers[0].data + 8`.
  struct Placed {
    std::string place;
    std::optional<std::int64_t> byteOffset;
  };
  std::optional<Placed> placeOf(const clang::Expr& expr, const ScopePointer& scope) const;
  std::optional<Placed> moved(const clang::Expr& base, const clang::Expr& index, int sign,
                              const ScopePointer& scope) const;
  std::string indexText(const clang::Expr& index, const ScopePointer& scope) const;
  void joinPlaces(std::span<const clang::Expr* const> passed, const ScopePointer& scope,
                  std::vector<Argument>& arguments) const;

  const clang::ASTContext& ast;
  const HostValues& values;
  Buffers& buffers;
};

} // namespace kcheck::frontend
