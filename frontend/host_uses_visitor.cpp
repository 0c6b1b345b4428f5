// The walk behind gatherUses: each reference to a variable or field is either understood (read, assigned,
// allocated into) or counts against it.
#include "frontend/host_uses_record.h"

#include "frontend/host_containers.h"
#include "frontend/host_guards.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <utility>

namespace kcheck::frontend {
namespace {

bool isLaunchCall(const clang::CallExpr& call) {
  return isNamed(call, "cudaLaunchKernel") || isNamed(call, "cudaLaunchCooperativeKernel");
}

class UsesVisitor : public clang::RecursiveASTVisitor<UsesVisitor>, UsesRecord {
  using Base = clang::RecursiveASTVisitor<UsesVisitor>;

public:
  UsesVisitor(const clang::ASTContext& ast, HostUses& uses)
      : UsesRecord(ast.getSourceManager(), uses), ast(ast) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(clang::Decl* decl) {
    if (decl && !llvm::isa<clang::TranslationUnitDecl>(decl)) {
      if (sources.isInSystemHeader(decl->getLocation())) return true;
      if (const auto* context = llvm::dyn_cast<clang::DeclContext>(decl);
          context && context->isDependentContext() && !llvm::isa<clang::TemplateDecl>(decl))
        return true;
    }
    const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(decl);
    if (!function) return Base::TraverseDecl(decl);
    if (function->isImplicit() || function->isDefaulted()) return true; // copies of whole objects
    Around outer;
    std::swap(outer, around);
    around.function = function->getCanonicalDecl();
    if (function->hasBody()) around.region = function->getBody()->getSourceRange();
    if (const auto* made = llvm::dyn_cast<clang::CXXConstructorDecl>(function)) noteInitializers(*made);
    const bool result = Base::TraverseDecl(decl);
    std::swap(outer, around);
    return result;
  }
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr*) { return true; } // not evaluated
  bool TraverseDecltypeTypeLoc(clang::DecltypeTypeLoc) { return true; }

  /// As it initialises, not as it is written: there reads are not marked as reads.
  bool TraverseInitListExpr(clang::InitListExpr* list, DataRecursionQueue* = nullptr) {
    clang::InitListExpr* form = list->isSemanticForm() ? list : list->getSemanticForm();
    for (clang::Stmt* child : (form ? form : list)->children())
      if (child && !TraverseStmt(child)) return false;
    return true;
  }

  bool TraverseCompoundStmt(clang::CompoundStmt* block) {
    noteSwaps(*block);
    for (clang::Stmt* child : block->body()) {
      const clang::Stmt* plain = child;
      if (const auto* expr = llvm::dyn_cast<clang::Expr>(child)) plain = expr->IgnoreParenImpCasts();
      statementOf[plain] = block;
      if (const auto* full = llvm::dyn_cast<clang::FullExpr>(plain))
        statementOf[full->getSubExpr()->IgnoreParenImpCasts()] = block;
    }
    if (isLoopBody(*block)) noteExchanges(*block);
    const std::size_t outside = around.guards.size();
    bool ok = true;
    for (clang::Stmt* child : block->body()) {
      ok = ok && TraverseStmt(child);
      if (followsGuards)
        for (Guard& guard : guardsBehind(*child, ast)) around.guards.push_back(std::move(guard));
    }
    around.guards.resize(outside);
    return ok;
  }
  /// The statements of each case run when the value is that of a label above, back to the last `break`.
  bool TraverseSwitchStmt(clang::SwitchStmt* choice) {
    auto* body = llvm::dyn_cast<clang::CompoundStmt>(choice->getBody());
    if (body && hasInnerLabels(*choice)) { // past what stands around them
      const bool outside = std::exchange(followsGuards, false);
      const bool ok = inRegion(*choice, [&] { return Base::TraverseSwitchStmt(choice); });
      followsGuards = outside;
      return ok;
    }
    if (!body || choice->getInit() || choice->getConditionVariable())
      return inRegion(*choice, [&] { return Base::TraverseSwitchStmt(choice); });
    if (!TraverseStmt(choice->getCond())) return false;
    std::vector<const clang::Expr*> cases, all = casesOf(*body);
    bool hasDefault = false, fallsThrough = false, mayHaveLeft = false, ok = true;
    for (clang::Stmt* child : body->body()) {
      if (llvm::isa<clang::SwitchCase>(child) && !fallsThrough) cases.clear(), hasDefault = false;
      clang::Stmt* statement = child;
      while (auto* label = llvm::dyn_cast<clang::SwitchCase>(statement)) {
        const auto* value = llvm::dyn_cast<clang::CaseStmt>(label);
        hasDefault |= !value || value->getRHS(); // a range of values counts as any
        if (value) cases.push_back(value->getLHS());
        statement = label->getSubStmt();
      }
      // What only `default` leads to is reached with none of the cases.
      const bool isDefault = hasDefault && cases.empty() && !all.empty();
      const bool isKnown = isDefault || (!cases.empty() && !hasDefault);
      const Guard guard{choice->getCond(), !isDefault, isDefault ? all : cases};
      if (statement != child) mayHaveLeft = mayHaveLeft && fallsThrough;
      ok = ok && (isKnown ? traverseWhere(guard, child, !mayHaveLeft) : traverseIn(child));
      mayHaveLeft = mayHaveLeft || hasBreak(*statement);
      fallsThrough = !leaves(*statement);
    }
    return ok;
  }
  bool TraverseIfStmt(clang::IfStmt* branch) {
    if (branch->getInit() && !TraverseStmt(branch->getInit())) return false;
    if (branch->getConditionVariableDeclStmt() && !TraverseStmt(branch->getConditionVariableDeclStmt()))
      return false;
    if (!TraverseStmt(branch->getCond())) return false;
    return traverseIf(*branch->getCond(), true, branch->getThen()) &&
           (!branch->getElse() || traverseIf(*branch->getCond(), false, branch->getElse()));
  }
  bool TraverseWhileStmt(clang::WhileStmt* loop) {
    return inRound(*loop, [&] {
      return traversePart(loop->getConditionVariableDeclStmt()) && TraverseStmt(loop->getCond()) &&
             traverseBody(loop->getCond(), loop->getBody());
    });
  }
  bool TraverseDoStmt(clang::DoStmt* loop) {
    if (!isOnce(*loop, ast)) return inRound(*loop, [&] { return Base::TraverseDoStmt(loop); });
    return mayBreak(*loop) ? inRegion(*loop, [&] { return Base::TraverseDoStmt(loop); })
                           : Base::TraverseDoStmt(loop);
  }
  bool TraverseCXXTryStmt(clang::CXXTryStmt* attempt) {
    bool ok = traverseIn(attempt->getTryBlock());
    for (unsigned i = 0; i < attempt->getNumHandlers(); ++i) ok = ok && traverseIn(attempt->getHandler(i));
    return ok;
  }
  bool TraverseBinaryOperator(clang::BinaryOperator* op, DataRecursionQueue* queue = nullptr) {
    if (!op->isLogicalOp()) return Base::TraverseBinaryOperator(op, queue);
    return TraverseStmt(op->getLHS()) &&
           traverseIf(*op->getLHS(), op->getOpcode() == clang::BO_LAnd, op->getRHS());
  }
  bool TraverseConditionalOperator(clang::ConditionalOperator* choice) {
    return TraverseStmt(choice->getCond()) && traverseIf(*choice->getCond(), true, choice->getTrueExpr()) &&
           traverseIf(*choice->getCond(), false, choice->getFalseExpr());
  }
  bool TraverseBinaryConditionalOperator(clang::BinaryConditionalOperator* choice) { // `a ?: b`
    return TraverseStmt(choice->getCommon()) && traverseIn(choice->getFalseExpr());
  }
  bool TraverseForStmt(clang::ForStmt* loop) {
    noteLoop(*loop);
    uses.homes[loop] = blockOf(loop);
    around.loops.push_back(loop);
    const bool result = inRound(*loop, [&] {
      return traversePart(loop->getInit()) && traversePart(loop->getConditionVariableDeclStmt()) &&
             traversePart(loop->getCond()) && traverseBody(loop->getCond(), loop->getBody()) &&
             traversePart(loop->getInc());
    });
    around.loops.pop_back();
    return result;
  }
  bool TraverseCXXForRangeStmt(clang::CXXForRangeStmt* loop) {
    if (const clang::VarDecl* variable = loop->getLoopVariable()) {
      VariableUses& own = uses.variables[variable->getCanonicalDecl()];
      own.loop = loop;
      own.isListed = true;
    }
    if (loop->getRangeInit() && isCounted(loop->getRangeInit()->getType())) settle(loop->getRangeInit());
    around.loops.push_back(loop);
    const bool result = inRound(*loop, [&] { return Base::TraverseCXXForRangeStmt(loop); });
    around.loops.pop_back();
    return result;
  }

  // Parents come before children: what a parent knows of a reference is not asked again.
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* cast) {
    const bool reads = cast->getCastKind() == clang::CK_LValueToRValue ||
                       (cast->getCastKind() == clang::CK_NoOp && cast->getType().isConstQualified());
    if (reads) settleRead(*cast->getSubExpr());
    return true;
  }
  /// Of `n < least ? least : n` either is read.
  void settleRead(const clang::Expr& lvalue) {
    settle(&lvalue);
    const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(lvalue.IgnoreParenImpCasts());
    if (!choice) return;
    settleRead(*choice->getTrueExpr());
    settleRead(*choice->getFalseExpr());
  }
  /// A function of its own, around which nothing is known to stand where it is called.
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    Around outer;
    std::swap(outer, around);
    around.function = lambda->getCallOperator()->getCanonicalDecl();
    around.region = lambda->getBody()->getSourceRange();
    const bool result = Base::TraverseLambdaExpr(lambda);
    std::swap(outer, around);
    return result;
  }
  bool VisitLambdaExpr(clang::LambdaExpr* lambda) { // its body is visited as well
    uses.lambdas.push_back(lambda->getBody()->getSourceRange());
    for (clang::Expr* init : lambda->capture_inits())
      if (init) settle(init);
    return true;
  }
  bool VisitContinueStmt(clang::ContinueStmt*) {
    if (!around.loops.empty())
      if (auto exchange = uses.exchanges.find(around.loops.back()); exchange != uses.exchanges.end())
        exchange->second.isSkipped = true;
    return true;
  }
  /// A local that is returned by value is not seen again.
  bool VisitReturnStmt(clang::ReturnStmt* statement) {
    around.mayHaveReturned = true;
    if (!statement->getRetValue()) return true;
    const clang::Expr& made = copiedFrom(*statement->getRetValue());
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(&made);
    const auto* variable = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
    if (variable && variable->hasLocalStorage() && variable->getType()->isRecordType() &&
        !statement->getRetValue()->isGLValue())
      settle(reference);
    return true;
  }
  bool VisitLabelStmt(clang::LabelStmt*) {
    uses.hasLabels = true;
    return true;
  }
  bool VisitDeclStmt(clang::DeclStmt* statement) {
    const auto block = statementOf.find(statement);
    if (block == statementOf.end()) return true;
    for (const clang::Decl* decl : statement->decls())
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl))
        uses.variables[variable->getCanonicalDecl()].declaredIn = block->second;
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator* op) {
    if (op->isIncrementDecrementOp()) noteChange(*op->getSubExpr(), *op);
    return true;
  }
  bool VisitBinaryOperator(clang::BinaryOperator* op) {
    if (op->getOpcode() == clang::BO_Assign && !exchanging.contains(op))
      noteEvent(*op->getLHS(), {op->getRHS(), nullptr, blockOf(op), op->getOperatorLoc()});
    if (op->isCompoundAssignmentOp()) noteChange(*op->getLHS(), *op);
    const bool asks = op->getOpcode() == clang::BO_Rem || op->getOpcode() == clang::BO_And;
    const auto* asked =
        asks ? llvm::dyn_cast<clang::DeclRefExpr>(op->getLHS()->IgnoreParenImpCasts()) : nullptr;
    if (asked) uses.askedForRemainder.insert(asked->getNameInfo().getAsString());
    return true;
  }
  bool VisitCXXOperatorCallExpr(clang::CXXOperatorCallExpr* call) { // `grid = dim3(8);`
    const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(call->getDirectCallee());
    const bool counted = method && isCounted(call->getArg(0)->getType());
    if (counted && call->getOperator() == clang::OO_Subscript) settle(call->getArg(0));
    if (method && call->getOperator() == clang::OO_Equal) touchThis(*call->getArg(0));
    if (!method || call->getOperator() != clang::OO_Equal || !(counted || method->isDefaulted())) return true;
    noteEvent(*call->getArg(0), {call->getArg(1), nullptr, blockOf(call), call->getOperatorLoc()});
    return true;
  }
  bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr* call) {
    if (isCounted(call->getImplicitObjectArgument()->getType())) {
      noteMethod(*call);
      return true;
    }
    if (llvm::isa_and_nonnull<clang::CXXConversionDecl>(call->getMethodDecl())) // to a function's address
      handOn(call->getImplicitObjectArgument()->getType());
    // What a method changes is seen in its body, field by field.
    if (const clang::CXXMethodDecl* method = call->getMethodDecl(); method && method->getDefinition())
      settle(call->getImplicitObjectArgument());
    return true;
  }
  bool VisitCallExpr(clang::CallExpr* call) {
    uses.around[call] = around;
    if (clang::FunctionDecl* callee = call->getDirectCallee()) {
      uses.functions[callee->getCanonicalDecl()].calls.push_back(call);
      if (const auto* reference =
              llvm::dyn_cast<clang::DeclRefExpr>(call->getCallee()->IgnoreParenImpCasts()))
        called.insert(reference);
    }
    if (auto allocation = allocationCall(*call)) noteAllocation(*call, *allocation);
    if (isNamed(*call, "cudaMallocPitch") && call->getNumArgs() > 1) noteAllocation(*call, {1, {}, nullptr});
    if (isLaunchCall(*call) && call->getNumArgs() > 3) settleArguments(*call->getArg(3));
    if (isNamed(*call, "cudaLaunchKernelEx") || isNamed(*call, "cudaLaunchKernelExC")) {
      settleConfiguration(*call);
      for (unsigned i = 2; i < call->getNumArgs(); ++i) settle(call->getArg(i));
    }
    noteReferences(*call);
    noteInputs(*call);
    if (!isInSight(call->getDirectCallee()))
      for (const clang::Expr* argument : call->arguments()) {
        handOn(argument->getType());
        touchThis(*argument);
      }
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* made) { // `std::function<void()> f = run;`
    if (!isInSight(made->getConstructor()))
      for (const clang::Expr* argument : made->arguments()) handOn(argument->getType());
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl())) {
      if (!settled.contains(reference)) ++uses.variables[variable->getCanonicalDecl()].others;
    } else if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(reference->getDecl())) {
      if (!called.contains(reference)) uses.functions[function->getCanonicalDecl()].escapes = true;
    }
    return true;
  }
  bool VisitMemberExpr(clang::MemberExpr* member) {
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    if (!field) return true;
    const bool ofThis = llvm::isa<clang::CXXThisExpr>(member->getBase()->IgnoreParenImpCasts());
    const bool throughPointer = member->isArrow() || rootIsReference(*member);
    if ((ofThis || throughPointer) && !settled.contains(member))
      ++uses.fieldUses[field->getCanonicalDecl()].others;
    return true;
  }

private:
  const clang::ASTContext& ast;
  bool followsGuards = true;

  template <class Walk> bool inRegion(const clang::Stmt& part, const Walk& walk) {
    const clang::SourceRange outside = std::exchange(around.region, part.getSourceRange());
    const bool ok = walk();
    around.region = outside;
    return ok;
  }
  template <class Walk> bool inRound(const clang::Stmt& loop, const Walk& walk) {
    around.rounds.push_back(loop.getSourceRange());
    const clang::Expr* outside = std::exchange(around.again, nullptr);
    const bool ok = inRegion(loop, walk);
    around.again = outside;
    around.rounds.pop_back();
    return ok;
  }
  bool traversePart(clang::Stmt* part) { return !part || TraverseStmt(part); }
  /// Where it begins the loop's condition holds.
  bool traverseBody(const clang::Expr* condition, clang::Stmt* body) {
    const bool isGuarded = condition && followsGuards && !condition->HasSideEffects(ast);
    if (isGuarded) around.guards.push_back({condition, true, {}, nullptr, body->getBeginLoc()});
    around.again = condition; // also of what stands in the head and is done behind the body
    const bool ok = TraverseStmt(body);
    if (isGuarded) around.guards.pop_back();
    return ok;
  }
  bool traverseIf(const clang::Expr& condition, bool must, clang::Stmt* part) {
    return traverseWhere({&condition, must, {}}, part, true);
  }
  /// `isWhole`: who comes there comes through all of the part.
  bool traverseWhere(const Guard& guard, clang::Stmt* part, bool isWhole) {
    if (!followsGuards) return traverseIn(part);
    around.guards.push_back(guard);
    if (isWhole) around.branches.push_back({guard, part->getSourceRange(), around.region});
    const bool ok = traverseIn(part);
    if (isWhole) around.branches.pop_back();
    around.guards.pop_back();
    return ok;
  }
  bool traverseIn(clang::Stmt* part) {
    return inRegion(*part, [&] { return TraverseStmt(part); });
  }
  /// Whether the walk comes to all that the function does. Copies of whole objects do nothing.
  bool isInSight(const clang::FunctionDecl* function) const {
    if (!function) return false;
    if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function)) {
      if (method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator()) return true;
      if (const auto* made = llvm::dyn_cast<clang::CXXConstructorDecl>(method);
          made && made->isCopyOrMoveConstructor())
        return true;
    }
    const clang::FunctionDecl* definition = function->getDefinition();
    return definition && !sources.isInSystemHeader(definition->getLocation()) &&
           !llvm::isa<clang::CXXConversionDecl>(function);
  }
  /// `*this = other;`, `std::swap(*this, other)`: any field may get another value.
  void touchThis(const clang::Expr& given) {
    const clang::Expr* expr = given.IgnoreParenImpCasts();
    const auto* op = llvm::dyn_cast<clang::UnaryOperator>(expr);
    if (op && op->getOpcode() == clang::UO_Deref) expr = op->getSubExpr()->IgnoreParenImpCasts();
    const auto* self = llvm::dyn_cast<clang::CXXThisExpr>(expr);
    const auto* record = self ? self->getType()->getPointeeCXXRecordDecl() : nullptr;
    if (!record || given.getType().isConstQualified()) return;
    for (const clang::FieldDecl* field : record->fields()) ++uses.fieldUses[field->getCanonicalDecl()].others;
  }
  void handOn(clang::QualType type) {
    type = type.getNonReferenceType();
    if (type->isPointerType()) type = type->getPointeeType();
    if (const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl())
      uses.handedOn.insert(record->getCanonicalDecl());
  }
  static bool rootIsReference(const clang::MemberExpr& member) {
    const auto* root = llvm::dyn_cast_or_null<clang::DeclRefExpr>(rootOf(&member));
    return !root || root->getDecl()->getType()->isReferenceType();
  }
  bool isLoopBody(const clang::CompoundStmt& block) const {
    const auto* loop = around.loops.empty() ? nullptr : llvm::dyn_cast<clang::ForStmt>(around.loops.back());
    return loop && loop->getBody() == &block;
  }
};

} // namespace

HostUses gatherUses(const clang::ASTContext& ast, bool wholeProgram) {
  HostUses uses;
  uses.wholeProgram = wholeProgram;
  UsesVisitor(ast, uses).TraverseDecl(ast.getTranslationUnitDecl());
  return uses;
}

} // namespace kcheck::frontend
