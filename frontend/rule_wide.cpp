// wide-arithmetic: double literals and functions in device code whose operands are floats and whose result
// becomes a float again. Conversions that the programmer has written out are meant.
#include "frontend/host_rules.h"

#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <fmt/format.h>

namespace kcheck::frontend {
namespace {

bool isFloat(clang::QualType type) { return type->isSpecificBuiltinType(clang::BuiltinType::Float); }
bool isDouble(clang::QualType type) { return type->isSpecificBuiltinType(clang::BuiltinType::Double); }

/// The double arithmetic below an expression: what widens it, and whether floats flow into it.
class WideParts : public clang::RecursiveASTVisitor<WideParts> {
public:
  explicit WideParts(const clang::ASTContext& ast) : ast(ast) {}
  bool TraverseCStyleCastExpr(clang::CStyleCastExpr*) { return ended(); }
  bool TraverseCXXStaticCastExpr(clang::CXXStaticCastExpr*) { return ended(); }
  bool TraverseCXXFunctionalCastExpr(clang::CXXFunctionalCastExpr*) { return ended(); }
  bool TraverseImplicitCastExpr(clang::ImplicitCastExpr* cast) {
    if (cast->getCastKind() == clang::CK_FloatingCast && isDouble(cast->getType()) &&
        isFloat(cast->getSubExpr()->getType())) {
      floats = true;
      return true; // what is below is done in float
    }
    return RecursiveASTVisitor::TraverseImplicitCastExpr(cast);
  }
  bool VisitFloatingLiteral(clang::FloatingLiteral* literal) {
    if (isDouble(literal->getType()) && !cause) cause = literal;
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    if (isDouble(reference->getType())) meant = true; // a double variable: somebody wanted it
    return true;
  }
  bool VisitMemberExpr(clang::MemberExpr* member) {
    if (isDouble(member->getType())) meant = true;
    return true;
  }
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    const bool library = callee && ast.getSourceManager().isInSystemHeader(callee->getLocation());
    if (callee && isDouble(call->getType())) {
      if (!library)
        meant = true;
      else if (!function)
        function = call;
    }
    return true;
  }
  bool floats = false, meant = false;
  const clang::Expr *cause = nullptr, *function = nullptr;

private:
  bool ended() {
    meant = true;
    return true;
  }
  const clang::ASTContext& ast;
};

class WideVisitor : public clang::RecursiveASTVisitor<WideVisitor> {
public:
  explicit WideVisitor(const RuleContext& context) : context(context) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool TraverseDecl(clang::Decl* decl) {
    if (isPassedOver(decl, context.ast)) return true;
    const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(decl);
    const bool before = inDevice;
    if (function)
      inDevice = function->hasAttr<clang::CUDAGlobalAttr>() || function->hasAttr<clang::CUDADeviceAttr>();
    const bool ok = RecursiveASTVisitor::TraverseDecl(decl);
    inDevice = before;
    return ok;
  }
  bool TraverseCStyleCastExpr(clang::CStyleCastExpr* cast) { return explicitly(cast->getSubExpr()); }
  bool TraverseCXXStaticCastExpr(clang::CXXStaticCastExpr* cast) { return explicitly(cast->getSubExpr()); }
  bool TraverseCXXFunctionalCastExpr(clang::CXXFunctionalCastExpr* cast) {
    return explicitly(cast->getSubExpr());
  }
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* cast) {
    if (inDevice && cast->getCastKind() == clang::CK_FloatingCast && isFloat(cast->getType()) &&
        isDouble(cast->getSubExpr()->getType()))
      look(*cast->getSubExpr(), false);
    return true;
  }
  bool VisitCompoundAssignOperator(clang::CompoundAssignOperator* op) {
    if (inDevice && isFloat(op->getLHS()->getType()) && isDouble(op->getComputationResultType()))
      look(*op->getRHS(), true, op);
    return true;
  }

private:
  bool explicitly(clang::Expr* inner) {
    const auto* implicit = llvm::dyn_cast<clang::ImplicitCastExpr>(inner);
    return TraverseStmt(implicit && implicit->getCastKind() == clang::CK_FloatingCast
                            ? const_cast<clang::Expr*>(implicit->getSubExpr())
                            : inner);
  }
  /// The macro that the source has there, where the number is one's; empty otherwise.
  std::string macroAt(const clang::Expr& number) const {
    const clang::SourceManager& sources = context.ast.getSourceManager();
    const clang::SourceLocation at = number.getBeginLoc();
    if (!at.isMacroID() || sources.isMacroArgExpansion(at)) return "";
    return clang::Lexer::getImmediateMacroName(at, sources, context.ast.getLangOpts()).str();
  }

  void look(const clang::Expr& wide, bool floatsMeet, const clang::Expr* whole = nullptr) {
    WideParts parts(context.ast);
    parts.TraverseStmt(const_cast<clang::Expr*>(&wide));
    parts.floats |= floatsMeet;
    const clang::Expr* cause = parts.cause ? parts.cause : parts.function;
    if (!parts.floats || parts.meant || !cause) return;
    Finding* finding = context.add("wide-arithmetic", Severity::Note, whole ? *whole : wide);
    if (!finding) return;
    const std::string text = textOf(*cause, context.ast);
    if (parts.cause) {
      const std::string macro = macroAt(*cause);
      finding->message =
          fmt::format("`{}` is a double, so floats are widened, computed with in double and narrowed again",
                      macro.empty() ? text : macro);
      finding->hint = macro.empty() ? fmt::format("write {}f, which is a float", text)
                                    : fmt::format("write (float){}, or give the macro a float", macro);
    } else {
      finding->message = fmt::format("`{}` computes in double what was and becomes a float", text);
      finding->hint = "the function of the same name for floats";
    }
    finding->notes.push_back({locate(cause->getSourceRange(), context.ast), "this is a double"});
  }

  const RuleContext& context;
  bool inDevice = false;
};

} // namespace

void findWideArithmetic(const RuleContext& context) {
  WideVisitor(context).TraverseDecl(context.ast.getTranslationUnitDecl());
}

} // namespace kcheck::frontend
