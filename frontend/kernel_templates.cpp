#include "frontend/kernel_templates.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <fmt/format.h>

namespace kcheck::frontend {
namespace {

/// A number that suits a tile or a block: where a kernel looks at two axes, 16 squared fit in a block.
std::string numberFor(const clang::FunctionTemplateDecl& made, const clang::ASTContext& ast) {
  const auto text = clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(made.getSourceRange()),
                                                ast.getSourceManager(), ast.getLangOpts());
  return text.contains("threadIdx.y") ? "16" : "128";
}

KernelTemplate describe(const clang::FunctionTemplateDecl& made, const clang::ASTContext& ast) {
  KernelTemplate result;
  clang::PrintingPolicy policy(ast.getLangOpts());
  policy.SuppressUnwrittenScope = true; // an anonymous namespace
  llvm::raw_string_ostream out(result.name);
  made.printQualifiedName(out, policy);
  for (const clang::NamedDecl* parameter : *made.getTemplateParameters()) {
    if (parameter->isParameterPack()) break;
    if (const auto* type = llvm::dyn_cast<clang::TemplateTypeParmDecl>(parameter)) {
      if (type->hasDefaultArgument()) break;
      result.arguments.push_back("%");
    } else if (const auto* number = llvm::dyn_cast<clang::NonTypeTemplateParmDecl>(parameter)) {
      if (number->hasDefaultArgument()) break;
      const clang::QualType kind = number->getType();
      result.canBeNamed &= kind->isIntegralType(ast);
      result.arguments.push_back(kind->isBooleanType() ? "true" : numberFor(made, ast));
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

} // namespace

std::vector<KernelTemplate> unusedTemplates(const clang::ASTContext& ast) {
  std::vector<KernelTemplate> found;
  find(*ast.getTranslationUnitDecl(), ast, found);
  return found;
}

std::string instanceOf(const KernelTemplate& made, const std::string& type, std::size_t number) {
  std::string arguments;
  for (const std::string& argument : made.arguments)
    arguments += (arguments.empty() ? "" : ", ") + (argument == "%" ? type : argument);
  return fmt::format("static const void* const kcheckInstance{} = reinterpret_cast<const void*>(&{}<{}>);\n",
                     number, made.name, arguments);
}

} // namespace kcheck::frontend
