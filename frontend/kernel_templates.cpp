#include "frontend/kernel_templates.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <fmt/format.h>

#include <algorithm>

namespace kcheck::frontend {
namespace {

/// Numbers that suit a tile or a block: where a kernel looks at two axes, 16 squared fit in a block.
std::vector<std::string> numbersFor(const clang::FunctionTemplateDecl& made, const clang::ASTContext& ast) {
  const auto text = clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(made.getSourceRange()),
                                                ast.getSourceManager(), ast.getLangOpts());
  if (text.contains("threadIdx.y")) return {"16", "8", "4"};
  return {"128", "32", "16", "8", "4"};
}

KernelTemplate describe(const clang::FunctionTemplateDecl& made, const clang::ASTContext& ast) {
  KernelTemplate result;
  clang::PrintingPolicy policy(ast.getLangOpts());
  policy.SuppressUnwrittenScope = true; // an anonymous namespace
  llvm::raw_string_ostream out(result.name);
  made.printQualifiedName(out, policy);
  result.numbers = numbersFor(made, ast);
  for (const clang::NamedDecl* parameter : *made.getTemplateParameters()) {
    if (parameter->isParameterPack()) break;
    if (const auto* type = llvm::dyn_cast<clang::TemplateTypeParmDecl>(parameter)) {
      if (type->hasDefaultArgument()) break;
      result.arguments.push_back("%");
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

} // namespace

std::vector<KernelTemplate> unusedTemplates(const clang::ASTContext& ast) {
  std::vector<KernelTemplate> found;
  find(*ast.getTranslationUnitDecl(), ast, found);
  return found;
}

std::vector<std::string> instancesOf(const KernelTemplate& made, std::size_t number) {
  const bool wantsNumber = std::ranges::find(made.arguments, "#") != made.arguments.end();
  std::vector<std::string> result;
  for (const std::string& value : made.numbers) {
    for (const char* type : {"float", "int"}) {
      std::string arguments;
      for (const std::string& argument : made.arguments)
        arguments += (arguments.empty() ? "" : ", ") + (argument == "%"   ? type
                                                        : argument == "#" ? value
                                                                          : argument);
      result.push_back(
          fmt::format("static const void* const kcheckInstance{} = reinterpret_cast<const void*>(&{}<{}>);\n",
                      number, made.name, arguments));
    }
    if (!wantsNumber) break;
  }
  return result;
}

} // namespace kcheck::frontend
