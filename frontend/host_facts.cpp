// Host facts.
#include "frontend/host_facts.h"

#include "frontend/host_side.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>

namespace kcheck::frontend {

void collectHostFacts(clang::ASTContext& ast, HostSide& result) {
  for (const clang::Decl* decl : ast.getTranslationUnitDecl()->decls()) {
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl);
    if (function && function->isMain() && function->hasBody()) result.hasMain = true;
  }
}

} // namespace kcheck::frontend
