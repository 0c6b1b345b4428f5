#include "frontend/callable_types.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <limits>

namespace kcheck::frontend {
namespace {

class Calls : public clang::RecursiveASTVisitor<Calls> {
public:
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::QualType type = call->getCallee()->IgnoreParenImpCasts()->getType().getNonReferenceType();
    if (const auto* parameter = type->getAs<clang::TemplateTypeParmType>())
      found.emplace(parameter->getDecl(), call->getNumArgs());
    return true;
  }
  std::map<const clang::TemplateTypeParmDecl*, unsigned> found;
};

/// How device code may call an object of the record; false where it cannot.
bool describeCalls(const clang::CXXRecordDecl& record, clang::ASTContext& ast, CallableType& type) {
  type.least = std::numeric_limits<unsigned>::max();
  bool isCallable = false;
  for (clang::NamedDecl* decl : record.lookup(ast.DeclarationNames.getCXXOperatorName(clang::OO_Call))) {
    const clang::FunctionDecl* function = decl->getAsFunction();
    if (!function || !function->hasAttr<clang::CUDADeviceAttr>() || decl->getAccess() != clang::AS_public)
      continue;
    const bool takesAny = function->isVariadic() || function->isTemplateInstantiation() ||
                          llvm::any_of(function->parameters(), [](const clang::ParmVarDecl* parameter) {
                            return parameter->isParameterPack();
                          });
    type.least = std::min(type.least, takesAny ? 0 : function->getMinRequiredArguments());
    type.most =
        takesAny ? std::numeric_limits<unsigned>::max() : std::max(type.most, function->getNumParams());
    isCallable = true;
  }
  return isCallable;
}

/// Whether a plain type makes one of the template.
bool wantsOneType(const clang::ClassTemplateDecl& made) {
  const clang::TemplateParameterList& parameters = *made.getTemplateParameters();
  return parameters.size() == 1 && llvm::isa<clang::TemplateTypeParmDecl>(parameters.getParam(0)) &&
         !parameters.hasParameterPack();
}

void find(const clang::DeclContext& context, clang::ASTContext& ast, std::vector<CallableType>& found) {
  for (clang::Decl* decl : context.noload_decls()) { // headers that are loaded have none of the user's
    if (ast.getSourceManager().isInSystemHeader(decl->getLocation())) continue;
    if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(decl))
      find(*llvm::cast<clang::DeclContext>(decl), ast, found);
    const auto* family = llvm::dyn_cast<clang::ClassTemplateDecl>(decl);
    const auto* record = family ? family->getTemplatedDecl() : llvm::dyn_cast<clang::CXXRecordDecl>(decl);
    if (!record || !record->isThisDeclarationADefinition() || !record->getIdentifier()) continue;
    CallableType type;
    if (!describeCalls(*record, ast, type) || (family && !wantsOneType(*family))) continue;
    type.name = nameAtEnd(*record, ast) + (family ? "<%>" : "");
    found.push_back(std::move(type));
  }
}

} // namespace

std::string nameAtEnd(const clang::NamedDecl& decl, const clang::ASTContext& ast) {
  clang::PrintingPolicy policy(ast.getLangOpts());
  policy.SuppressUnwrittenScope = true; // an anonymous namespace
  std::string name;
  llvm::raw_string_ostream out(name);
  decl.printQualifiedName(out, policy);
  return name;
}

std::vector<CallableType> callableTypes(clang::ASTContext& ast) {
  std::vector<CallableType> found;
  find(*ast.getTranslationUnitDecl(), ast, found);
  return found;
}

std::map<const clang::TemplateTypeParmDecl*, unsigned> calledTypes(const clang::FunctionTemplateDecl& made) {
  Calls calls;
  calls.TraverseStmt(made.getTemplatedDecl()->getBody());
  return std::move(calls.found);
}

} // namespace kcheck::frontend
