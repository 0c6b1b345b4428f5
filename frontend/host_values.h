// What host variables hold, as far as the source fixes it for every run: integers, dim3 values, and pointers
// into buffers. Nothing here guesses: a variable that could hold something else has no value.
#pragma once

#include "report/program.h"

#include <map>
#include <set>

namespace clang {
class ASTContext;
class CallExpr;
class Expr;
class FunctionDecl;
class ParmVarDecl;
class VarDecl;
} // namespace clang

namespace kcheck::frontend {

/// How host code uses a variable, apart from reading it.
struct VariableUses {
  std::vector<const clang::Expr*> assigned;        ///< right-hand sides of plain assignments
  std::vector<const clang::CallExpr*> allocatedBy; ///< allocation calls that get its address
  unsigned others = 0;                             ///< anything else that could change it
};

struct FunctionUses {
  std::vector<const clang::CallExpr*> calls;
  bool escapes = false; ///< its address is taken, so that calls may be hidden
};

/// Gathered over a whole translation unit.
struct HostUses {
  std::map<const clang::VarDecl*, VariableUses> variables;
  std::map<const clang::FunctionDecl*, FunctionUses> functions;
  std::map<const clang::CallExpr*, std::size_t> allocations; ///< index into Facts::allocations
  bool wholeProgram = false;                                 ///< no other file can call this file's functions
};

/// A pointer into a buffer.
struct PointerValue {
  std::size_t allocation = 0;
  std::optional<std::int64_t> byteOffset;
};

class HostValues {
public:
  HostValues(const clang::ASTContext& ast, const HostUses& uses) : ast(ast), uses(uses) {}

  std::optional<std::int64_t> integer(const clang::Expr& expr) const;
  Extent extent(const clang::Expr& expr) const;
  std::optional<PointerValue> pointer(const clang::Expr& expr) const;

  /// The one expression that gives a variable its value; null when there is none, or several.
  const clang::Expr* definition(const clang::VarDecl& variable) const;

private:
  friend class Folder;
  std::vector<const clang::Expr*> argumentsFor(const clang::ParmVarDecl& parameter) const;

  const clang::ASTContext& ast;
  const HostUses& uses;
};

/// Walks the translation unit. `allocationPointer` says which argument of an allocation call receives the
/// buffer.
HostUses gatherUses(const clang::ASTContext& ast, bool wholeProgram);

/// The index of the argument through which a call of the CUDA API returns a new buffer, and of that which has
/// its size in bytes.
struct AllocationCall {
  unsigned pointer;
  std::optional<unsigned> size;
};
std::optional<AllocationCall> allocationCall(const clang::CallExpr& call);
/// The variable in `&variable`, casts stripped; null for anything else.
const clang::VarDecl* addressedVariable(const clang::Expr& expr);

} // namespace kcheck::frontend
