// Walks a function's syntax tree in order of evaluation and notes every place where clang's code generation
// will read, write or call through a pointer, under the location that the instruction will carry.
#include "frontend/access_table.h"

#include "frontend/pretty.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

namespace kcheck::frontend {
namespace {

class Walker {
public:
  using Places = std::map<std::pair<unsigned, unsigned>, std::vector<SourceAccess>>;
  Walker(const clang::ASTContext& ast, Places& places) : ast(ast), places(places) {}

  void walk(const clang::Stmt* statement) {
    if (!statement) return;
    if (const auto* lambda =
            llvm::dyn_cast<clang::LambdaExpr>(statement)) { // its body is a function of its own
      for (const clang::Expr* init : lambda->capture_inits()) walk(init);
      return;
    }
    if (const auto* pseudo = llvm::dyn_cast<clang::PseudoObjectExpr>(statement)) {
      for (const clang::Expr* part : pseudo->semantics()) walk(part);
      return;
    }
    if (const auto* opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(statement))
      return walk(opaque->getSourceExpr());
    if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultInitExpr>(statement))
      return walk(fallback->getExpr());
    for (const clang::Stmt* child : statement->children()) walk(child);
    note(*statement);
  }

private:
  void note(const clang::Stmt& statement) {
    if (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(&statement)) return noteCast(*cast);
    if (const auto* op = llvm::dyn_cast<clang::BinaryOperator>(&statement)) return noteBinary(*op);
    if (const auto* op = llvm::dyn_cast<clang::UnaryOperator>(&statement)) return noteUnary(*op);
    if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(&statement)) return noteCopy(*made);
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&statement)) return noteCall(*call);
    if (const auto* atomic = llvm::dyn_cast<clang::AtomicExpr>(&statement)) {
      notePointer(*atomic, *atomic->getPtr(), atomic->getExprLoc());
      return;
    }
    if (const auto* text = llvm::dyn_cast<clang::AsmStmt>(&statement)) {
      SourceAccess access;
      access.isCall = true;
      access.where = locate(text->getSourceRange(), ast);
      add(text->getAsmLoc(), std::move(access));
    }
    if (const auto* declared = llvm::dyn_cast<clang::DeclStmt>(&statement)) noteDeclarations(*declared);
  }

  void noteCast(const clang::ImplicitCastExpr& cast) {
    if (cast.getCastKind() != clang::CK_LValueToRValue) return;
    const clang::Expr& lvalue = *cast.getSubExpr();
    noteLvalue(AccessKind::Read, lvalue, lvalue, lvalue.getExprLoc());
  }

  void noteBinary(const clang::BinaryOperator& op) {
    if (!op.isAssignmentOp()) return;
    // A write of a bit-field reads the word around it.
    if (op.isCompoundAssignmentOp() || op.getLHS()->refersToBitField())
      noteLvalue(AccessKind::Read, op, *op.getLHS(), op.getExprLoc());
    noteLvalue(AccessKind::Write, op, *op.getLHS(), op.getExprLoc());
  }

  void noteUnary(const clang::UnaryOperator& op) {
    if (!op.isIncrementDecrementOp()) return;
    noteLvalue(AccessKind::Read, op, *op.getSubExpr(), op.getExprLoc());
    noteLvalue(AccessKind::Write, op, *op.getSubExpr(), op.getExprLoc());
  }

  /// A trivial copy constructor is a copy of bytes, under the location of the copied expression.
  void noteCopy(const clang::CXXConstructExpr& made) {
    if (made.getNumArgs() == 0 || !made.getConstructor()->isCopyOrMoveConstructor()) return;
    const clang::Expr& source = *made.getArg(0)->IgnoreParenImpCasts();
    noteArgument(source, *made.getArg(0)); // a copy constructor with a body
    for (clang::SourceLocation at : distinct(made.getExprLoc(), source.getExprLoc())) {
      noteLvalue(AccessKind::Read, source, source, at);
      noteLvalue(AccessKind::Write, source, made, at);
    }
  }

  void noteCall(const clang::CallExpr& call) {
    const auto* member = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call);
    if (member && member->isAssignmentOp() && member->getNumArgs() == 2) {
      for (clang::SourceLocation at : distinct(call.getExprLoc(), call.getBeginLoc())) {
        noteLvalue(AccessKind::Read, *member->getArg(1)->IgnoreParenImpCasts(),
                   *member->getArg(1)->IgnoreParenImpCasts(), at);
        noteLvalue(AccessKind::Write, call, *member->getArg(0)->IgnoreParenImpCasts(), at);
      }
    }
    for (const clang::Expr* argument : call.arguments()) noteArgument(call, *argument);
    const clang::Expr* pointer = onlyPointer(call);
    for (clang::SourceLocation at : distinct(call.getExprLoc(), call.getBeginLoc())) {
      if (pointer) {
        notePointer(call, *pointer, at);
      } else {
        SourceAccess access;
        access.isCall = true;
        access.where = locate(call.getSourceRange(), ast);
        add(at, std::move(access));
      }
    }
  }

  void noteDeclarations(const clang::DeclStmt& statement) {
    for (const clang::Decl* decl : statement.decls()) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
      if (!variable || !variable->getInit()) continue;
      SourceAccess access;
      access.kind = AccessKind::Write;
      access.where = locate(variable->getSourceRange(), ast);
      access.expr = access.array = variable->getNameAsString();
      access.bytes = sizeOf(variable->getType());
      setType(access, variable->getType());
      for (clang::SourceLocation at : distinct(variable->getLocation(), variable->getInit()->getExprLoc()))
        add(at, access);
    }
  }

  /// The argument through which a call reaches memory, when there is but one: a pointer, a reference or the
  /// object.
  static const clang::Expr* onlyPointer(const clang::CallExpr& call) {
    const clang::Expr* found = nullptr;
    if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call))
      found = member->getImplicitObjectArgument();
    for (const clang::Expr* argument : call.arguments()) {
      const clang::Expr& written = *argument->IgnoreParenImpCasts();
      const clang::QualType type = argument->getType();
      const bool reaches = type->isPointerType() || (argument->isGLValue() && !type->isFunctionType());
      if (!reaches || llvm::isa<clang::StringLiteral>(written)) continue;
      if (found && !llvm::isa<clang::CXXMemberCallExpr>(call)) return nullptr;
      if (!found) found = argument;
    }
    return found;
  }

  /// What an object that is made for one call refers to: `c[0]` in `atomic_ref<int>(c[0])`.
  static const clang::Expr* referred(const clang::Expr& written) {
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(&written);
    if (!made || made->getNumArgs() != 1 || made->getConstructor()->isCopyOrMoveConstructor()) return nullptr;
    const clang::Expr* argument = made->getArg(0);
    return argument->isLValue() || argument->getType()->isPointerType() ? argument : nullptr;
  }

  /// A pointer and how far to go from there.
  static bool goesAhead(const clang::BinaryOperator* sum) {
    return sum && sum->getOpcode() == clang::BO_Add && sum->getLHS()->getType()->isPointerType();
  }

  /// An access through a pointer: `&c[0]` accesses `c[0]`, `c + i` accesses `c[i]`, `p` accesses `*p`.
  void describePointer(const clang::Expr& pointer, SourceAccess& access) {
    const clang::Expr& written = *pointer.IgnoreParenCasts();
    if (const clang::Expr* object = referred(written)) return describePointer(*object, access);
    const auto* address = llvm::dyn_cast<clang::UnaryOperator>(&written);
    const auto* sum = llvm::dyn_cast<clang::BinaryOperator>(&written);
    if (address && address->getOpcode() == clang::UO_AddrOf) {
      access.expr = textOf(*address->getSubExpr(), ast);
      access.array = arrayTextOf(*address->getSubExpr(), ast);
    } else if (goesAhead(sum)) {
      std::string index;
      const clang::Expr* base = nullptr;
      for (; goesAhead(sum); sum = llvm::dyn_cast<clang::BinaryOperator>(base)) { // `c + row * n + column`
        std::string part = textOf(*sum->getRHS(), ast);
        if (!index.empty()) part.append(" + ").append(index);
        index = std::move(part);
        base = sum->getLHS()->IgnoreParenImpCasts();
      }
      access.array = textOf(*base, ast);
      access.expr = access.array + "[" + index + "]";
    } else if (written.getType()->isPointerType()) {
      access.array = textOf(written, ast);
      access.expr = "*" + access.array;
    } else if (written.getType()->isArrayType()) {
      access.array = textOf(written, ast);
      access.expr = access.array + "[0]";
    } else {
      access.expr = textOf(written, ast);
      access.array = arrayTextOf(written, ast);
    }
  }

  void notePointer(const clang::Expr& whole, const clang::Expr& pointer, clang::SourceLocation at) {
    SourceAccess access;
    access.isCall = true;
    access.where = locate(whole.getSourceRange(), ast);
    describePointer(pointer, access);
    setType(access, pointedTo(pointer));
    add(at, std::move(access));
  }

  /// Every argument through which a call can reach memory, at the place where its address is computed.
  void noteArgument(const clang::Expr& whole, const clang::Expr& argument) {
    if (!argument.getType()->isPointerType() && !argument.isGLValue()) return;
    const clang::Expr* written = argument.IgnoreParenCasts();
    SourceAccess access;
    access.isArgument = true;
    access.where = locate(whole.getSourceRange(), ast);
    describePointer(argument, access);
    setType(access, pointedTo(argument));
    if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(written);
        address && address->getOpcode() == clang::UO_AddrOf)
      written = address->getSubExpr()->IgnoreParens();
    add(written->getExprLoc(), std::move(access));
  }

  /// `*` of `x *= 2`; empty for all that is no such assignment.
  static std::string updateOf(const clang::Expr& whole) {
    const auto* update = llvm::dyn_cast<clang::CompoundAssignOperator>(&whole);
    if (!update) return {};
    return clang::BinaryOperator::getOpcodeStr(
               clang::BinaryOperator::getOpForCompoundAssignment(update->getOpcode()))
        .str();
  }

  void noteLvalue(AccessKind kind, const clang::Expr& whole, const clang::Expr& lvalue,
                  clang::SourceLocation at) {
    SourceAccess access;
    access.kind = kind;
    access.bytes = sizeOf(lvalue.getType());
    access.where = locate(whole.getSourceRange(), ast);
    access.expr = textOf(*lvalue.IgnoreParens(), ast);
    access.array = arrayTextOf(lvalue, ast);
    access.isBitField = lvalue.refersToBitField();
    access.updates = updateOf(whole);
    setType(access, lvalue.getType());
    add(at, std::move(access));
  }

  static clang::QualType pointedTo(const clang::Expr& pointer) {
    const clang::QualType type = pointer.getType();
    return type->isPointerType() ? type->getPointeeType() : type;
  }

  /// A type of CUDA's headers.
  static bool isNamed(clang::QualType type, llvm::StringRef name) {
    const auto* record = type->getAsCXXRecordDecl();
    return record && record->getDeclName().isIdentifier() && record->getName() == name;
  }

  void setType(SourceAccess& access, clang::QualType type) const {
    if (type->isUnsignedIntegerOrEnumerationType())
      access.type = ValueType::Unsigned;
    else if (type->isIntegralOrEnumerationType())
      access.type = ValueType::Signed;
    else if (type->isBFloat16Type() || isNamed(type, "__nv_bfloat16"))
      access.type = ValueType::BrainFloat;
    else if (type->isRealFloatingType() || isNamed(type, "__half"))
      access.type = ValueType::Real;
    else
      return;
    access.typeBytes = std::uint32_t(sizeOf(type));
  }

  std::uint64_t sizeOf(clang::QualType type) const {
    type = type.getNonReferenceType();
    if (type->isIncompleteType() || type->isDependentType() || type->isFunctionType()) return 0;
    return std::uint64_t(ast.getTypeSizeInChars(type).getQuantity());
  }

  std::vector<clang::SourceLocation> distinct(clang::SourceLocation a, clang::SourceLocation b) const {
    const Location x = locate(a, ast), y = locate(b, ast);
    if (x.line == y.line && x.column == y.column) return {a};
    return {a, b};
  }

  void add(clang::SourceLocation at, SourceAccess access) {
    const Location key = locate(at, ast);
    if (key.known()) places[{key.line, key.column}].push_back(std::move(access));
  }

  const clang::ASTContext& ast;
  Places& places;
};

} // namespace

AccessTable::AccessTable(const clang::FunctionDecl& decl, const clang::ASTContext& ast) {
  Walker walker(ast, places);
  if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(&decl))
    for (const clang::CXXCtorInitializer* initializer : constructor->inits())
      walker.walk(initializer->getInit());
  const clang::FunctionDecl* definition = nullptr;
  if (decl.hasBody(definition)) walker.walk(definition->getBody());
}

SourceAccess* AccessTable::matchArgument(unsigned line, unsigned column) {
  const auto place = places.find({line, column});
  if (place == places.end()) return nullptr;
  for (SourceAccess& access : place->second)
    if (access.isArgument) return &access;
  return nullptr;
}

SourceAccess* AccessTable::match(unsigned line, unsigned column, AccessKind kind, std::uint64_t bytes,
                                 bool inlined) {
  const auto place = places.find({line, column});
  if (place == places.end()) return nullptr;
  SourceAccess* best = nullptr;
  int bestScore = -1;
  for (SourceAccess& access : place->second) {
    if (access.isArgument || (inlined && !access.isCall)) continue;
    if (!access.isCall && access.kind != kind) continue;
    if (access.isCall && !inlined && kind != AccessKind::Atomic && bestScore >= 0) continue;
    int score = 0;
    if (!access.taken) score += 1;
    if (access.bytes == bytes) score += 2;
    if (score <= bestScore) continue;
    best = &access;
    bestScore = score;
  }
  if (best && !best->isCall) best->taken = true;
  return best;
}

} // namespace kcheck::frontend
