// Names, texts and places of source constructs, from clang's tree to the report's plain records.
#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <llvm/ADT/StringExtras.h>

namespace kcheck::frontend {
namespace {

constexpr std::size_t kLongestText = 120;

clang::PrintingPolicy policyOf(const clang::ASTContext& ast) {
  clang::PrintingPolicy policy = ast.getPrintingPolicy();
  policy.SuppressTagKeyword = true;
  policy.Bool = true;
  policy.PrintCanonicalTypes = false;
  return policy;
}

std::string collapse(llvm::StringRef text) {
  std::string result;
  for (char c : text) {
    const bool blank = llvm::isSpace(c);
    if (blank && (result.empty() || result.back() == ' ')) continue;
    result += blank ? ' ' : c;
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  if (result.size() > kLongestText) result = result.substr(0, kLongestText - 3) + "...";
  return result;
}

std::string printed(const clang::Expr& expr, const clang::ASTContext& ast) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  expr.printPretty(stream, nullptr, policyOf(ast));
  return collapse(text);
}

const clang::Expr& strip(const clang::Expr& expr) { return *expr.IgnoreParenImpCasts(); }

} // namespace

std::string prettyType(clang::QualType type, const clang::ASTContext& ast) {
  return type.getAsString(policyOf(ast));
}

std::string prettyName(const clang::FunctionDecl& decl) {
  const clang::ASTContext& ast = decl.getASTContext();
  std::string name;
  llvm::raw_string_ostream stream(name);
  decl.getNameForDiagnostic(stream, policyOf(ast), /*Qualified=*/true);
  stream << '(';
  const char* separator = "";
  for (const clang::ParmVarDecl* parameter : decl.parameters()) {
    stream << separator << prettyType(parameter->getType(), ast);
    separator = ", ";
  }
  stream << ')';
  return name;
}

Location locate(clang::SourceLocation at, const clang::ASTContext& ast) {
  const clang::PresumedLoc place = ast.getSourceManager().getPresumedLoc(at);
  if (place.isInvalid()) return {};
  return {place.getFilename(), place.getLine(), place.getColumn(), 0};
}

Location locate(clang::SourceRange range, const clang::ASTContext& ast) {
  const clang::SourceManager& sources = ast.getSourceManager();
  Location where = locate(range.getBegin(), ast);
  if (!where.known()) return where;
  const clang::CharSourceRange expanded = sources.getExpansionRange(range);
  const clang::SourceLocation begin = expanded.getBegin();
  clang::SourceLocation end = expanded.getEnd();
  if (expanded.isTokenRange()) end = clang::Lexer::getLocForEndOfToken(end, 0, sources, ast.getLangOpts());
  if (end.isInvalid() || sources.getFileID(begin) != sources.getFileID(end)) return where;
  if (sources.getExpansionLineNumber(begin) == sources.getExpansionLineNumber(end)) {
    where.endColumn = sources.getExpansionColumnNumber(end);
  } else {
    const llvm::StringRef rest(sources.getCharacterData(begin));
    where.endColumn =
        where.column + unsigned(rest.take_until([](char c) { return c == '\n'; }).rtrim().size());
  }
  return where;
}

std::string textOf(const clang::Expr& expr, const clang::ASTContext& ast) {
  const clang::SourceRange range = expr.getSourceRange();
  if (range.isInvalid()) return printed(expr, ast);
  const clang::SourceManager& sources = ast.getSourceManager();
  const clang::CharSourceRange file = clang::Lexer::makeFileCharRange(
      clang::CharSourceRange::getTokenRange(range), sources, ast.getLangOpts());
  if (file.isInvalid()) return printed(expr, ast);
  // A macro's name is no text of the expression: print what it stands for.
  if (range.getBegin().isMacroID() && !sources.isMacroArgExpansion(range.getBegin()))
    return printed(expr, ast);
  const std::string text = collapse(clang::Lexer::getSourceText(file, sources, ast.getLangOpts()));
  return text.empty() ? printed(expr, ast) : text;
}

/// The array that a pointer leads into, whatever it is cast to and however far in it points.
static std::string pointedAtBy(const clang::Expr& pointer, const clang::ASTContext& ast) {
  const clang::Expr& expr = *pointer.IgnoreParenCasts();
  if (const auto* sum = llvm::dyn_cast<clang::BinaryOperator>(&expr);
      sum && sum->isAdditiveOp() && expr.getType()->isPointerType()) {
    const bool left = sum->getLHS()->getType()->isPointerType();
    return pointedAtBy(*(left ? sum->getLHS() : sum->getRHS()), ast);
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(&expr);
      unary && unary->getOpcode() == clang::UO_AddrOf)
    return arrayTextOf(*unary->getSubExpr(), ast);
  return textOf(expr, ast);
}

std::string arrayTextOf(const clang::Expr& lvalue, const clang::ASTContext& ast) {
  const clang::Expr& expr = strip(lvalue);
  if (const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(&expr)) {
    const clang::Expr& base = strip(*subscript->getBase());
    const bool isRow = base.getType()->isArrayType() && llvm::isa<clang::ArraySubscriptExpr>(base);
    return isRow ? arrayTextOf(base, ast) : pointedAtBy(base, ast);
  }
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(&expr)) {
    if (member->isImplicitAccess()) return textOf(expr, ast);
    return member->isArrow() ? pointedAtBy(*member->getBase(), ast) : arrayTextOf(*member->getBase(), ast);
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(&expr);
      unary && unary->getOpcode() == clang::UO_Deref) {
    return pointedAtBy(*unary->getSubExpr(), ast);
  }
  return textOf(expr, ast);
}

Kernel describeKernel(const clang::FunctionDecl& decl, std::string symbol, const clang::ASTContext& ast) {
  Kernel kernel;
  kernel.symbol = std::move(symbol);
  kernel.name = prettyName(decl);
  kernel.where = locate(decl.getLocation(), ast);
  kernel.inSystemHeader = ast.getSourceManager().isInSystemHeader(decl.getLocation());
  kernel.where.endColumn = kernel.where.column + unsigned(decl.getNameAsString().size());
  for (const clang::ParmVarDecl* declared : decl.parameters()) {
    Parameter parameter;
    parameter.name = declared->getNameAsString();
    parameter.type = prettyType(declared->getType(), ast);
    if (const clang::QualType type = declared->getType(); type->isPointerType()) {
      parameter.isPointer = true;
      const clang::QualType pointee = type->getPointeeType();
      if (!pointee->isIncompleteType() && !pointee->isFunctionType())
        parameter.elementBytes = std::uint64_t(ast.getTypeSizeInChars(pointee).getQuantity());
    }
    kernel.parameters.push_back(std::move(parameter));
  }
  return kernel;
}

} // namespace kcheck::frontend
