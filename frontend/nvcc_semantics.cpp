// Adjusts declarations of system headers as they come by.
#include "frontend/nvcc_semantics.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/Basic/SourceManager.h>

namespace kcheck::frontend {
namespace {

class NvccSemantics : public clang::ASTConsumer {
public:
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* decl : group)
      if (auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl)) markGetters(*record);
    return true;
  }

  void HandleTagDeclDefinition(clang::TagDecl* decl) override {
    if (auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl)) allowInSharedMemory(*record);
  }

private:
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
};

} // namespace

std::unique_ptr<clang::ASTConsumer> makeNvccSemantics() { return std::make_unique<NvccSemantics>(); }

} // namespace kcheck::frontend
