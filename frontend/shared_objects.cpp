// Clang asks whether the default constructor of a shared variable is trivial, and it asks that while it reads
// the declaration, or while it instantiates the function around it. For that long all of them say yes.
#include "frontend/shared_objects.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTMutationListener.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Sema/Sema.h>
#include <clang/Sema/SemaConsumer.h>
#include <clang/Sema/TemplateInstCallback.h>

#include <set>
#include <vector>

namespace kcheck::frontend {
namespace {

/// Clang does not look for a constructor behind the end of temporaries (`complex(const T& real = T())`).
void leaveCleanupsOut(clang::ParmVarDecl& parameter) {
  if (!parameter.hasDefaultArg() || parameter.hasUnparsedDefaultArg() ||
      parameter.hasUninstantiatedDefaultArg())
    return;
  auto* cleanups = llvm::dyn_cast<clang::ExprWithCleanups>(parameter.getInit());
  if (cleanups && !cleanups->cleanupsHaveSideEffects()) parameter.setDefaultArg(cleanups->getSubExpr());
}

/// The constructors and destructors that do something, and whether they say that they do.
class Calls {
public:
  void add(const clang::CXXRecordDecl& record) {
    if (record.isDependentContext()) return;
    for (clang::CXXConstructorDecl* constructor : record.ctors()) add(constructor);
    add(record.getDestructor());
  }

  void add(clang::CXXMethodDecl* method) {
    const auto* constructor = llvm::dyn_cast_or_null<clang::CXXConstructorDecl>(method);
    const bool isAsked = constructor ? constructor->isDefaultConstructor()
                                     : llvm::isa_and_nonnull<clang::CXXDestructorDecl>(method);
    if (!isAsked || method->isDependentContext() || method->isTrivial() || !calls.insert(method).second)
      return;
    method->setTrivial(areHidden);
    for (clang::ParmVarDecl* parameter : method->parameters()) leaveCleanupsOut(*parameter);
  }

  void hide(bool wanted) {
    if (areHidden == wanted) return;
    areHidden = wanted;
    for (clang::CXXMethodDecl* call : calls) call->setTrivial(wanted);
  }

  bool has(clang::CXXMethodDecl* method) const { return calls.contains(method); }

private:
  std::set<clang::CXXMethodDecl*> calls;
  bool areHidden = false;
};

/// Whether the function declares a shared variable, as a template does before it is instantiated.
class DeclaresShared : public clang::RecursiveASTVisitor<DeclaresShared> {
public:
  bool VisitVarDecl(clang::VarDecl* variable) {
    found |= variable->hasAttr<clang::CUDASharedAttr>();
    return !found;
  }
  bool found = false;
};

/// Asks again for the constructors and destructors of local objects, which clang did not define meanwhile.
class DefineCalls : public clang::RecursiveASTVisitor<DefineCalls> {
public:
  DefineCalls(clang::Sema& sema, const Calls& calls) : sema(sema), calls(calls) {}
  bool shouldVisitImplicitCode() const { return true; }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* made) {
    define(made->getConstructor(), made->getExprLoc());
    if (const clang::CXXRecordDecl* record = made->getType()->getAsCXXRecordDecl())
      define(record->getDestructor(), made->getExprLoc());
    return true;
  }

private:
  void define(clang::CXXMethodDecl* method, clang::SourceLocation where) {
    if (method && calls.has(method)) sema.MarkFunctionReferenced(where, method);
  }
  clang::Sema& sema;
  const Calls& calls;
};

class SharedObjects : public clang::SemaConsumer, public clang::ASTMutationListener {
public:
  explicit SharedObjects(clang::CompilerInstance& compiler) {
    clang::Preprocessor& preprocessor = compiler.getPreprocessor();
    preprocessor.addPPCallbacks(std::make_unique<Declarations>(*this));
    preprocessor.setTokenWatcher([this](const clang::Token& token) { read(token); });
  }

  void InitializeSema(clang::Sema& made) override {
    sema = &made;
    made.TemplateInstCallbacks.push_back(std::make_unique<Instantiations>(*this));
  }
  void ForgetSema() override { sema = nullptr; }
  clang::ASTMutationListener* GetASTMutationListener() override { return this; }

  void HandleTagDeclDefinition(clang::TagDecl* decl) override {
    if (auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl)) calls.add(*record);
  }
  void AddedCXXImplicitMember(const clang::CXXRecordDecl*, const clang::Decl* decl) override {
    calls.add(const_cast<clang::CXXMethodDecl*>(llvm::dyn_cast<clang::CXXMethodDecl>(decl)));
  }

  /// Before code is made of it.
  bool HandleTopLevelDecl(clang::DeclGroupRef) override {
    calls.hide(false);
    return true;
  }
  void HandleTranslationUnit(clang::ASTContext&) override { calls.hide(false); }

  /// After code was made.
  void resume() { calls.hide(isReading()); }

private:
  class Declarations : public clang::PPCallbacks {
  public:
    explicit Declarations(SharedObjects& objects) : objects(objects) {}
    void MacroExpands(const clang::Token& name, const clang::MacroDefinition&, clang::SourceRange,
                      const clang::MacroArgs*) override {
      if (name.getIdentifierInfo()->isStr("__shared__")) objects.begin();
    }

  private:
    SharedObjects& objects;
  };

  using Context = clang::Sema::CodeSynthesisContext;
  class Instantiations : public clang::TemplateInstantiationCallback {
  public:
    explicit Instantiations(SharedObjects& objects) : objects(objects) {}
    void initialize(const clang::Sema&) override {}
    void finalize(const clang::Sema&) override {}
    void atTemplateBegin(const clang::Sema&, const Context& context) override {
      if (auto* function = functionOf(context)) objects.open(*function);
    }
    void atTemplateEnd(const clang::Sema&, const Context& context) override {
      if (auto* function = functionOf(context)) objects.close(*function);
      if (context.Kind == Context::DefaultFunctionArgumentInstantiation)
        if (auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(context.Entity))
          leaveCleanupsOut(*parameter);
    }

  private:
    static clang::FunctionDecl* functionOf(const Context& context) {
      if (context.Kind != Context::TemplateInstantiation) return nullptr;
      return llvm::dyn_cast_or_null<clang::FunctionDecl>(context.Entity);
    }
    SharedObjects& objects;
  };

  void begin() {
    state = State::Declaration;
    calls.hide(true);
  }

  /// Clang acts on a declaration when it has read the semicolon and before it reads on.
  void read(const clang::Token& token) {
    if (state == State::Behind) {
      state = State::Outside;
      calls.hide(isReading());
    } else if (state == State::Declaration && token.is(clang::tok::semi)) {
      state = State::Behind;
    }
  }

  bool isReading() const {
    return state != State::Outside || (!instantiated.empty() && instantiated.back().hasShared);
  }

  void open(clang::FunctionDecl& function) {
    const clang::FunctionDecl* pattern = function.getTemplateInstantiationPattern();
    DeclaresShared shared;
    if (pattern) shared.TraverseStmt(pattern->getBody());
    calls.add(llvm::dyn_cast<clang::CXXMethodDecl>(&function));
    instantiated.push_back({&function, isReading() || shared.found});
    calls.hide(isReading());
  }

  void close(clang::FunctionDecl& function) {
    if (instantiated.empty() || instantiated.back().function != &function) return;
    const bool hasShared = instantiated.back().hasShared;
    instantiated.pop_back();
    calls.hide(false);
    if (hasShared) DefineCalls(*sema, calls).TraverseStmt(function.getBody());
    calls.hide(isReading());
  }

  struct Opened {
    const clang::FunctionDecl* function;
    bool hasShared; // or is within one that has
  };

  enum class State { Outside, Declaration, Behind };

  clang::Sema* sema = nullptr;
  Calls calls;
  State state = State::Outside;
  std::vector<Opened> instantiated;
};

class Resume : public clang::ASTConsumer {
public:
  explicit Resume(SharedObjects& objects) : objects(objects) {}
  bool HandleTopLevelDecl(clang::DeclGroupRef) override {
    objects.resume();
    return true;
  }

private:
  SharedObjects& objects;
};

} // namespace

std::unique_ptr<clang::ASTConsumer> makeSharedObjects(clang::CompilerInstance& compiler,
                                                      std::unique_ptr<clang::ASTConsumer> others) {
  std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
  auto objects = std::make_unique<SharedObjects>(compiler);
  auto resume = std::make_unique<Resume>(*objects);
  consumers.push_back(std::move(objects));
  consumers.push_back(std::move(others));
  consumers.push_back(std::move(resume));
  return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
}

} // namespace kcheck::frontend
