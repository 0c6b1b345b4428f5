#include "frontend/kernel_templates.h"

#include "frontend/callable_types.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <fmt/format.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>
#include <optional>

namespace kcheck::frontend {
namespace {

/// Numbers that suit a tile or a block: where a kernel looks at two axes, 16 squared fit in a block.
std::vector<std::string> numbersFor(const clang::FunctionTemplateDecl& made, const clang::ASTContext& ast) {
  const auto text = clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(made.getSourceRange()),
                                                ast.getSourceManager(), ast.getLangOpts());
  if (text.contains("threadIdx.y")) return {"16", "8", "4"};
  return {"128", "32", "16", "8", "4"};
}

/// What a type parameter may be: something that is called, where it is; else a plain type, or what the kernel
/// hands on to be called.
std::vector<std::string> typesFor(const std::optional<unsigned>& called,
                                  const std::vector<CallableType>& callables) {
  std::vector<std::string> result;
  if (!called) result.push_back("%");
  for (const CallableType& type : callables)
    if (!called || type.takes(*called)) result.push_back(type.name);
  return result;
}

/// The first values of an enumeration; none where it has no name.
std::vector<std::string> valuesOf(const clang::EnumDecl& kind, const clang::ASTContext& ast) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> result;
  if (!kind.getIdentifier()) return result;
  for (const clang::EnumConstantDecl* value : kind.enumerators())
    if (result.size() < kMost)
      result.push_back(
          fmt::format("static_cast<{}>({})", nameAtEnd(kind, ast), llvm::toString(value->getInitVal(), 10)));
  return result;
}

/// What a parameter may be that is a number, a truth value or one of an enumeration.
std::vector<std::string> valuesFor(clang::QualType kind, const clang::ASTContext& ast) {
  if (kind->isBooleanType()) return {"true"};
  if (const auto* named = kind->getAs<clang::EnumType>()) return valuesOf(*named->getDecl(), ast);
  return kind->isIntegralType(ast) ? std::vector<std::string>{"#"} : std::vector<std::string>();
}

KernelTemplate describe(const clang::FunctionTemplateDecl& made, const clang::ASTContext& ast,
                        const std::vector<CallableType>& callables) {
  KernelTemplate result;
  result.name = nameAtEnd(made, ast);
  const auto place = ast.getSourceManager().getPresumedLoc(made.getTemplatedDecl()->getLocation());
  result.line = place.getLine();
  result.column = place.getColumn();
  result.numbers = numbersFor(made, ast);
  const auto called = calledTypes(made);
  for (const clang::NamedDecl* parameter : *made.getTemplateParameters()) {
    if (parameter->isParameterPack()) break;
    if (const auto* type = llvm::dyn_cast<clang::TemplateTypeParmDecl>(parameter)) {
      if (type->hasDefaultArgument()) break;
      const auto call = called.find(type);
      result.arguments.push_back(
          typesFor(call == called.end() ? std::nullopt : std::optional(call->second), callables));
    } else if (const auto* number = llvm::dyn_cast<clang::NonTypeTemplateParmDecl>(parameter)) {
      if (number->hasDefaultArgument()) break;
      result.arguments.push_back(valuesFor(number->getType(), ast));
      result.canBeNamed &= !result.arguments.back().empty();
    } else {
      result.canBeNamed = false;
    }
  }
  return result;
}

void find(const clang::DeclContext& context, const clang::ASTContext& ast,
          const std::vector<CallableType>& callables, std::vector<KernelTemplate>& found) {
  for (clang::Decl* decl : context.noload_decls()) { // headers that are loaded have none of the user's
    if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(decl))
      find(*llvm::cast<clang::DeclContext>(decl), ast, callables, found);
    auto* made = llvm::dyn_cast<clang::FunctionTemplateDecl>(decl);
    if (made && made->isThisDeclarationADefinition() &&
        made->getTemplatedDecl()->hasAttr<clang::CUDAGlobalAttr>() &&
        made->spec_begin() == made->spec_end() &&
        !ast.getSourceManager().isInSystemHeader(made->getLocation()))
      found.push_back(describe(*made, ast, callables));
  }
}

/// The ways to take one of each, the likeliest first: the first of all, then other ones of the last.
std::vector<std::vector<std::string>> choicesOf(const std::vector<std::vector<std::string>>& arguments) {
  constexpr std::size_t kMost = 5; // each try compiles the file
  std::vector<std::vector<std::string>> choices{{}};
  for (const std::vector<std::string>& candidates : arguments) {
    std::vector<std::vector<std::string>> longer;
    for (const std::vector<std::string>& choice : choices)
      for (const std::string& candidate : candidates) {
        longer.push_back(choice);
        longer.back().push_back(candidate);
      }
    choices = std::move(longer);
    if (choices.size() > kMost) choices.resize(kMost);
  }
  return choices;
}

std::string replaced(std::string text, char mark, const std::string& by) {
  if (const std::size_t at = text.find(mark); at != std::string::npos) text.replace(at, 1, by);
  return text;
}

} // namespace

std::vector<KernelTemplate> unusedTemplates(clang::ASTContext& ast) {
  std::vector<KernelTemplate> found;
  find(*ast.getTranslationUnitDecl(), ast, callableTypes(ast), found);
  return found;
}

std::vector<std::string> instancesOf(const KernelTemplate& made, std::size_t number) {
  std::vector<std::string> result;
  const auto add = [&](const std::vector<std::string>& choice, const std::string& value, const char* type) {
    std::string arguments;
    for (const std::string& argument : choice)
      arguments += (arguments.empty() ? "" : ", ") + replaced(replaced(argument, '%', type), '#', value);
    const std::string instance =
        fmt::format("static const void* const kcheckInstance{} = reinterpret_cast<const void*>(&{}<{}>);\n",
                    number, made.name, arguments);
    if (std::ranges::find(result, instance) == result.end()) result.push_back(instance);
  };
  for (const std::string& value : made.numbers)
    for (const std::vector<std::string>& choice : choicesOf(made.arguments))
      for (const char* type : {"float", "int"}) add(choice, value, type);
  constexpr std::size_t kMost = 12;
  if (result.size() > kMost) result.resize(kMost);
  return result;
}

} // namespace kcheck::frontend
