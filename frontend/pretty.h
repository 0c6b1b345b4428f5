// Source constructs as the programmer would write them: names, types, texts and places.
#pragma once

#include "report/program.h"

#include <clang/Basic/SourceLocation.h>

namespace clang {
class ASTContext;
class Expr;
class FunctionDecl;
class QualType;
class Stmt;
} // namespace clang

namespace kcheck::frontend {

/// `countPlain(int *)`, `scale<float>(float *, int)`.
std::string prettyName(const clang::FunctionDecl& decl);
std::string prettyType(clang::QualType type, const clang::ASTContext& ast);

/// Expanded and presumed, as debug information has it.
Location locate(clang::SourceLocation at, const clang::ASTContext& ast);
/// From the first to the last token of `range`; of its first line when it spans several.
Location locate(clang::SourceRange range, const clang::ASTContext& ast);

/// The text between the tokens, white space collapsed; of code that a macro writes, the printed expression.
std::string textOf(const clang::Expr& expr, const clang::ASTContext& ast);

/// What an lvalue indexes or dereferences: `c` of `c[i]`, `p` of `*(p + 1)`, `tile` of `tile[y][x]`.
std::string arrayTextOf(const clang::Expr& lvalue, const clang::ASTContext& ast);

Kernel describeKernel(const clang::FunctionDecl& decl, std::string symbol, const clang::ASTContext& ast);

} // namespace kcheck::frontend
