// Adjusts declarations of system headers and casts of the user's code as they come by.
#include "frontend/nvcc_semantics.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

namespace kcheck::frontend {
namespace {

/// `*reinterpret_cast<float4*>(&tile[row][column])`: what the cast names is as aligned as its type asks,
/// which nvcc takes for given; a device traps where it is not. Clang goes by the array below instead, and
/// would move the float4 in four pieces. Clang forgets the array behind an operator, so the casts get one.
class AlignedCasts : public clang::RecursiveASTVisitor<AlignedCasts> {
public:
  explicit AlignedCasts(clang::ASTContext& ast) : ast(ast) {}
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }

  /// Of templates what they became, not what they are made from; libraries are left as they are.
  bool TraverseDecl(clang::Decl* decl) {
    if (!decl || ast.getSourceManager().isInSystemHeader(decl->getLocation())) return true;
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl))
      if (function->isDependentContext()) return true;
    return RecursiveASTVisitor::TraverseDecl(decl);
  }

  bool VisitExplicitCastExpr(clang::ExplicitCastExpr* cast) {
    if (cast->isTypeDependent() || cast->isValueDependent()) return true;
    if (cast->getCastKind() == clang::CK_BitCast && namesAnArray(*cast->getSubExpr()))
      cast->setSubExpr(behindComma(*cast->getSubExpr()));
    if (cast->getCastKind() == clang::CK_LValueBitCast && !cast->getSubExpr()->refersToBitField()) {
      cast->setSubExpr(throughPointer(*cast));
      cast->setCastKind(clang::CK_NoOp);
    }
    return true;
  }

private:
  /// `&array[i]`, or the array itself.
  static bool namesAnArray(const clang::Expr& pointer) {
    const clang::Expr* named = pointer.IgnoreParenCasts();
    const auto* address = llvm::dyn_cast<clang::UnaryOperator>(named);
    return named->getType()->isArrayType() || (address && address->getOpcode() == clang::UO_AddrOf);
  }

  /// `(0, value)`.
  clang::Expr* behindComma(clang::Expr& value) {
    auto* zero = clang::IntegerLiteral::Create(ast, llvm::APInt(ast.getIntWidth(ast.IntTy), 0), ast.IntTy,
                                               value.getBeginLoc());
    return clang::BinaryOperator::Create(ast, zero, &value, clang::BO_Comma, value.getType(),
                                         value.getValueKind(), value.getObjectKind(), value.getExprLoc(), {});
  }

  /// `*(T*)(0, &x)` for what `reinterpret_cast<T&>(x)` casts.
  clang::Expr* throughPointer(clang::ExplicitCastExpr& cast) {
    clang::Expr* place = cast.getSubExpr();
    const clang::SourceLocation where = place->getExprLoc();
    auto* address =
        clang::UnaryOperator::Create(ast, place, clang::UO_AddrOf, ast.getPointerType(place->getType()),
                                     clang::VK_PRValue, clang::OK_Ordinary, where, false, {});
    const clang::QualType wanted = ast.getPointerType(cast.getType());
    auto* pointer = clang::CStyleCastExpr::Create(ast, wanted, clang::VK_PRValue, clang::CK_BitCast,
                                                  behindComma(*address), nullptr, {},
                                                  ast.getTrivialTypeSourceInfo(wanted, where), where, where);
    return clang::UnaryOperator::Create(ast, pointer, clang::UO_Deref, cast.getType(), clang::VK_LValue,
                                        clang::OK_Ordinary, where, false, {});
  }

  clang::ASTContext& ast;
};

class NvccSemantics : public clang::ASTConsumer {
public:
  void Initialize(clang::ASTContext& context) override { ast = &context; }

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* decl : group) {
      if (auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl)) markGetters(*record);
      alignCasts(*decl);
    }
    return true;
  }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    alignCasts(*context.getTranslationUnitDecl()); // what was instantiated meanwhile
  }

  void HandleTagDeclDefinition(clang::TagDecl* decl) override {
    if (auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl)) allowInSharedMemory(*record);
  }

private:
  void alignCasts(clang::Decl& decl) {
    if (ast->getLangOpts().CUDAIsDevice) AlignedCasts(*ast).TraverseDecl(&decl);
  }

  /// The getters behind `threadIdx.x` have no side effects, but clang's header does not say so, and clang
  /// drops assumptions whose condition might have some.
  static void markGetters(clang::CXXRecordDecl& record) {
    if (!record.getIdentifier() || !record.getName().starts_with("__cuda_builtin_")) return;
    for (clang::CXXMethodDecl* method : record.methods())
      if (method->getIdentifier() && method->getName().starts_with("__fetch_builtin_"))
        method->addAttr(clang::ConstAttr::CreateImplicit(method->getASTContext()));
  }

  /// `__shared__ cuda::barrier<...> b;`: shared variables are never constructed, and nvcc lets that pass with
  /// a warning for the classes that are made for it (the program calls init()).
  static void allowInSharedMemory(clang::CXXRecordDecl& record) {
    if (!record.getIdentifier() || record.isDependentContext()) return;
    if (record.getName() != "barrier" && record.getName() != "pipeline_shared_state") return;
    if (!record.getASTContext().getSourceManager().isInSystemHeader(record.getLocation())) return;
    for (clang::CXXConstructorDecl* constructor : record.ctors())
      if (constructor->isDefaultConstructor()) constructor->setTrivial(true);
    if (clang::CXXDestructorDecl* destructor = record.getDestructor()) destructor->setTrivial(true);
  }

  clang::ASTContext* ast = nullptr;
};

} // namespace

std::unique_ptr<clang::ASTConsumer> makeNvccSemantics() { return std::make_unique<NvccSemantics>(); }

} // namespace kcheck::frontend
