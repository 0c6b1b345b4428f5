#include "frontend/kernel_templates.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kcheck::frontend {
namespace {

/// Numbers that suit a tile or a block: where a kernel looks at two axes, 16 squared fit in a block.
std::vector<std::string> numbersFor(const clang::FunctionTemplateDecl& made, const clang::ASTContext& ast) {
  const auto text = clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(made.getSourceRange()),
                                                ast.getSourceManager(), ast.getLangOpts());
  if (text.contains("threadIdx.y")) return {"16", "8", "4"};
  return {"128", "32", "16", "8", "4"};
}

/// The type parameters of which a template calls an object: `op(a, b)`, `Op()(a, b)`.
class CalledTypes : public clang::RecursiveASTVisitor<CalledTypes> {
public:
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::QualType type = call->getCallee()->IgnoreParenImpCasts()->getType().getNonReferenceType();
    if (const auto* parameter = type->getAs<clang::TemplateTypeParmType>())
      found.insert(parameter->getDecl());
    return true;
  }
  std::set<const clang::TemplateTypeParmDecl*> found;
};

std::string nameOf(const clang::NamedDecl& decl, const clang::ASTContext& ast) {
  clang::PrintingPolicy policy(ast.getLangOpts());
  policy.SuppressUnwrittenScope = true; // an anonymous namespace
  std::string name;
  llvm::raw_string_ostream out(name);
  decl.printQualifiedName(out, policy);
  return name;
}

bool hasDeviceCall(const clang::CXXRecordDecl& record, clang::ASTContext& ast) {
  const clang::DeclarationName call = ast.DeclarationNames.getCXXOperatorName(clang::OO_Call);
  return llvm::any_of(record.lookup(call), [](clang::NamedDecl* decl) {
    const clang::FunctionDecl* function = decl->getAsFunction();
    return function && function->hasAttr<clang::CUDADeviceAttr>();
  });
}

/// Whether float or int makes a type of the template.
bool wantsOneType(const clang::ClassTemplateDecl& made) {
  const clang::TemplateParameterList& parameters = *made.getTemplateParameters();
  return parameters.size() == 1 && llvm::isa<clang::TemplateTypeParmDecl>(parameters.getParam(0)) &&
         !parameters.hasParameterPack();
}

void findCallables(const clang::DeclContext& context, clang::ASTContext& ast,
                   std::vector<std::string>& found) {
  for (clang::Decl* decl : context.noload_decls()) {
    if (ast.getSourceManager().isInSystemHeader(decl->getLocation())) continue;
    if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(decl))
      findCallables(*llvm::cast<clang::DeclContext>(decl), ast, found);
    const auto* family = llvm::dyn_cast<clang::ClassTemplateDecl>(decl);
    const auto* record = family ? family->getTemplatedDecl() : llvm::dyn_cast<clang::CXXRecordDecl>(decl);
    if (!record || !record->isThisDeclarationADefinition() || !record->getIdentifier()) continue;
    if (!hasDeviceCall(*record, ast) || (family && !wantsOneType(*family))) continue;
    found.push_back(nameOf(*record, ast) + (family ? "<%>" : ""));
  }
}

KernelTemplate describe(const clang::FunctionTemplateDecl& made, const clang::ASTContext& ast) {
  KernelTemplate result;
  result.name = nameOf(made, ast);
  result.line = ast.getSourceManager().getPresumedLoc(made.getTemplatedDecl()->getLocation()).getLine();
  CalledTypes called;
  called.TraverseStmt(made.getTemplatedDecl()->getBody());
  result.numbers = numbersFor(made, ast);
  for (const clang::NamedDecl* parameter : *made.getTemplateParameters()) {
    if (parameter->isParameterPack()) break;
    if (const auto* type = llvm::dyn_cast<clang::TemplateTypeParmDecl>(parameter)) {
      if (type->hasDefaultArgument()) break;
      result.arguments.push_back(called.found.contains(type) ? "()" : "%");
    } else if (const auto* number = llvm::dyn_cast<clang::NonTypeTemplateParmDecl>(parameter)) {
      if (number->hasDefaultArgument()) break;
      const clang::QualType kind = number->getType();
      result.canBeNamed &= kind->isIntegralType(ast);
      result.arguments.push_back(kind->isBooleanType() ? "true" : "#");
    } else {
      result.canBeNamed = false;
    }
  }
  return result;
}

void find(const clang::DeclContext& context, const clang::ASTContext& ast,
          std::vector<KernelTemplate>& found) {
  for (clang::Decl* decl : context.noload_decls()) { // headers that are loaded have none of the user's
    if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(decl))
      find(*llvm::cast<clang::DeclContext>(decl), ast, found);
    auto* made = llvm::dyn_cast<clang::FunctionTemplateDecl>(decl);
    if (made && made->isThisDeclarationADefinition() &&
        made->getTemplatedDecl()->hasAttr<clang::CUDAGlobalAttr>() &&
        made->spec_begin() == made->spec_end() &&
        !ast.getSourceManager().isInSystemHeader(made->getLocation()))
      found.push_back(describe(*made, ast));
  }
}

std::string withType(std::string callable, const char* type) {
  if (const std::size_t at = callable.find('%'); at != std::string::npos) callable.replace(at, 1, type);
  return callable;
}

} // namespace

std::vector<KernelTemplate> unusedTemplates(clang::ASTContext& ast) {
  std::vector<KernelTemplate> found;
  find(*ast.getTranslationUnitDecl(), ast, found);
  if (found.empty()) return found;
  std::vector<std::string> callables;
  findCallables(*ast.getTranslationUnitDecl(), ast, callables);
  for (KernelTemplate& made : found) made.callables = callables;
  return found;
}

std::vector<std::string> instancesOf(const KernelTemplate& made, std::size_t number) {
  constexpr std::size_t kMostCallables = 8; // each try compiles the file
  const auto wants = [&](const char* what) {
    return std::ranges::find(made.arguments, what) != made.arguments.end();
  };
  std::vector<std::string> callables = made.callables;
  if (!wants("()")) callables = {""};
  if (callables.size() > kMostCallables) callables.resize(kMostCallables);
  std::vector<std::string> result;
  for (const std::string& value : made.numbers) {
    for (const std::string& callable : callables) {
      for (const char* type : {"float", "int"}) {
        std::string arguments;
        for (const std::string& argument : made.arguments)
          arguments += (arguments.empty() ? "" : ", ") + (argument == "%"    ? type
                                                          : argument == "()" ? withType(callable, type)
                                                          : argument == "#"  ? value
                                                                             : argument);
        result.push_back(fmt::format(
            "static const void* const kcheckInstance{} = reinterpret_cast<const void*>(&{}<{}>);\n", number,
            made.name, arguments));
      }
    }
    if (!wants("#")) break;
  }
  return result;
}

} // namespace kcheck::frontend
