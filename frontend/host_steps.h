// What host functions do with the device, in the order of their text: launches and library calls, copies,
// waits, looks at a clock. Calls of functions that are defined in the file stand for what those do. The rules
// about host code (host_rules.h) look for patterns in these steps.
#pragma once

#include "frontend/host_uses.h"

namespace clang {
class Decl;
}

namespace kcheck::frontend {

enum class StepKind : std::uint8_t {
  Launch, ///< of a kernel, or of a library's work
  Wait,   ///< for the device, or something that may wait
  Clock,
  CopyToHost,
  CopyToDevice,
  SetDevice,
  RecordEvent,
  ElapsedTime
};

struct Step {
  StepKind kind = StepKind::Wait;
  const clang::CallExpr* call = nullptr;  ///< in the function itself: of a step in a helper the helper's call
  const clang::CallExpr* inner = nullptr; ///< the step's own call
  std::vector<const clang::Stmt*> blocks; ///< blocks, branches and loops around, outermost first
  bool isAsync = false;
  const clang::Expr *host = nullptr, *device = nullptr; ///< of a copy between the two
};

/// A use of a variable that may look at what it holds, or change it.
struct Touch {
  const clang::VarDecl* variable = nullptr;
  clang::SourceLocation where;
};

struct HostFunction {
  const clang::FunctionDecl* declaration = nullptr;
  std::vector<Step> steps;
  std::vector<Touch> touches;
  std::map<const clang::VarDecl*, const clang::VarDecl*> aliases; ///< pointers made from a variable
};

/// Declarations of system headers, and what a template is before it is instantiated: rules pass over both.
bool isPassedOver(const clang::Decl* decl, const clang::ASTContext& ast);

/// The host functions that the file's own text defines.
std::vector<HostFunction> hostFunctions(const clang::ASTContext& ast);

/// The variable that an expression for a buffer comes from: `v` of `v.data()`, `&v[0]`, `v + 1`.
const clang::VarDecl* bufferVariable(const clang::Expr& expr);

} // namespace kcheck::frontend
