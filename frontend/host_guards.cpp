#include "frontend/host_guards.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

namespace kcheck::frontend {
namespace {

class BreakFinder : public clang::RecursiveASTVisitor<BreakFinder> {
public:
  bool TraverseLambdaExpr(clang::LambdaExpr*) { return true; }
  bool VisitBreakStmt(clang::BreakStmt*) { return !(found = true); }
  bool VisitContinueStmt(clang::ContinueStmt*) { return !(found = true); }
  bool found = false;
};

const clang::Stmt& plain(const clang::Stmt& statement) {
  const clang::Stmt* result = &statement;
  if (const auto* expr = llvm::dyn_cast<clang::Expr>(result)) result = expr->IgnoreParenCasts();
  while (const auto* full = llvm::dyn_cast<clang::FullExpr>(result))
    result = full->getSubExpr()->IgnoreParenCasts();
  return *result;
}

const clang::CompoundStmt* bodyOf(const clang::FunctionDecl* callee) {
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callee);
  if (method && (method->isVirtual() || method->getParent()->isLambda())) return nullptr;
  const clang::FunctionDecl* definition = callee ? callee->getDefinition() : nullptr;
  if (!definition ||
      definition->getASTContext().getSourceManager().isInSystemHeader(definition->getLocation()))
    return nullptr;
  return llvm::dyn_cast_or_null<clang::CompoundStmt>(definition->getBody());
}

/// The body of a helper that may end the program, and else comes back from its end.
const clang::CompoundStmt* bodyWithoutReturn(const clang::CallExpr& call) {
  const clang::CompoundStmt* body = bodyOf(call.getDirectCallee());
  return body && !hasReturn(*body) ? body : nullptr;
}

constexpr unsigned kDeepestHelper = 3;

/// Whether control leaves the function, or the program: `exit(1)`, or a helper that does so in the end.
bool leavesFunction(const clang::Stmt& given, unsigned depth = kDeepestHelper) {
  const clang::Stmt& statement = plain(given);
  if (llvm::isa<clang::ReturnStmt, clang::CXXThrowExpr>(statement)) return true;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&statement)) {
    if (call->getDirectCallee() && call->getDirectCallee()->isNoReturn()) return true;
    const auto* body = depth ? bodyWithoutReturn(*call) : nullptr;
    return body && !body->body_empty() && leavesFunction(*body->body_back(), depth - 1);
  }
  const auto* both = llvm::dyn_cast<clang::BinaryOperator>(&statement);
  if (both && both->getOpcode() == clang::BO_Comma)
    return leavesFunction(*both->getLHS(), depth) || leavesFunction(*both->getRHS(), depth);
  const auto* block = llvm::dyn_cast<clang::CompoundStmt>(&statement);
  return block && !block->body_empty() && leavesFunction(*block->body_back(), depth);
}

bool endsFunction(const clang::Stmt& statement) { return leavesFunction(statement); }

bool endsInBreak(const clang::Stmt& statement) {
  const auto* block = llvm::dyn_cast<clang::CompoundStmt>(&statement);
  return block ? !block->body_empty() && endsInBreak(*block->body_back())
               : llvm::isa<clang::BreakStmt>(statement);
}

/// `switch (n) { case 32: case 64: break; default: return; }`: the labels that lead behind it, or do not.
template <class Leaving>
void addBehindSwitch(const clang::SwitchStmt& choice, const Leaving& leaving, std::vector<Guard>& guards) {
  const auto* body = llvm::dyn_cast<clang::CompoundStmt>(choice.getBody());
  if (!body || hasInnerLabels(choice) || casesOf(*body).empty()) return;
  std::vector<const clang::Expr*> open, staying, left;
  bool isDefault = false, defaultLeaves = false, mayStay = false;
  for (const clang::Stmt* child : body->body()) {
    const clang::Stmt* statement = child;
    while (const auto* label = llvm::dyn_cast<clang::SwitchCase>(statement)) {
      if (const auto* value = llvm::dyn_cast<clang::CaseStmt>(label))
        open.push_back(value->getLHS());
      else
        isDefault = true;
      statement = label->getSubStmt();
    }
    mayStay = mayStay || hasBreak(*statement);
    const bool breaks = endsInBreak(*statement), ends = !breaks && !mayStay && leaving(*statement);
    if (!breaks && !ends && !leaving(*statement)) continue; // on to the next
    auto& cases = ends ? left : staying;
    cases.insert(cases.end(), open.begin(), open.end());
    defaultLeaves = defaultLeaves || (isDefault && ends);
    open.clear();
    isDefault = mayStay = false;
  }
  staying.insert(staying.end(), open.begin(), open.end());
  if (defaultLeaves && !staying.empty()) guards.push_back({choice.getCond(), true, staying});
  if (!left.empty()) guards.push_back({choice.getCond(), false, left});
}

/// A loop that nothing but its condition ends.
void addBehindLoop(const clang::Expr* condition, const clang::Stmt& body, const clang::Stmt& loop,
                   const clang::ASTContext& ast, std::vector<Guard>& guards) {
  if (!condition || condition->HasSideEffects(ast) || hasBreak(body)) return;
  guards.push_back({condition, false, {}, nullptr, loop.getEndLoc().getLocWithOffset(1)});
}

template <class Leaving>
void addBehind(const clang::Stmt& given, const clang::ASTContext& ast, const Leaving& leaving,
               std::vector<Guard>& guards);

/// What holds for whoever comes back from a call, or has an object: what is asked in front of the first
/// `return`, and ends the program, or is thrown.
void addBehindCall(const clang::Expr& call, const clang::FunctionDecl* callee, const clang::ASTContext& ast,
                   std::vector<Guard>& guards) {
  const clang::CompoundStmt* body = bodyOf(callee);
  if (!body) return;
  std::vector<Guard> inside;
  for (const clang::Stmt* child : body->body()) {
    if (hasReturn(*child)) break;
    if (!llvm::isa<clang::CallExpr, clang::DeclStmt>(plain(*child)))
      addBehind(*child, ast, endsFunction, inside);
  }
  for (Guard& guard : inside) {
    guard.within = &call;
    guards.push_back(std::move(guard));
  }
}

/// The call or the construction that a value comes from.
void addBehindValue(const clang::Expr& value, const clang::ASTContext& ast, std::vector<Guard>& guards) {
  const clang::Stmt& from = plain(value);
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&from))
    addBehindCall(*call, call->getDirectCallee(), ast, guards);
  else if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(&from))
    addBehindCall(*made, made->getConstructor(), ast, guards);
}

/// `leaving`: whether a branch that is taken never comes behind the statement.
template <class Leaving>
void addBehind(const clang::Stmt& given, const clang::ASTContext& ast, const Leaving& leaving,
               std::vector<Guard>& guards) {
  const clang::Stmt& statement = plain(given);
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(&statement)) {
    for (const clang::Stmt* child : block->body()) addBehind(*child, ast, leaving, guards);
  } else if (const auto* choice = llvm::dyn_cast<clang::SwitchStmt>(&statement)) {
    addBehindSwitch(*choice, leaving, guards);
  } else if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&statement)) {
    addBehindCall(*call, call->getDirectCallee(), ast, guards);
  } else if (const auto* declared = llvm::dyn_cast<clang::DeclStmt>(&statement)) {
    for (const clang::Decl* one : declared->decls())
      if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(one);
          variable && variable->hasInit() && !variable->isStaticLocal())
        addBehindValue(*variable->getInit(), ast, guards);
  } else if (const auto* loop = llvm::dyn_cast<clang::DoStmt>(&statement); loop && isOnce(*loop, ast)) {
    if (!hasBreak(*loop->getBody())) addBehind(*loop->getBody(), ast, endsFunction, guards);
  } else if (const auto* loop = llvm::dyn_cast<clang::WhileStmt>(&statement)) {
    addBehindLoop(loop->getCond(), *loop->getBody(), statement, ast, guards);
  } else if (const auto* loop = llvm::dyn_cast<clang::DoStmt>(&statement)) {
    addBehindLoop(loop->getCond(), *loop->getBody(), statement, ast, guards);
  } else if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(&statement)) {
    addBehindLoop(loop->getCond(), *loop->getBody(), statement, ast, guards);
  } else if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(&statement)) {
    if (leaving(*branch->getThen())) guards.push_back({branch->getCond(), false, {}});
    if (branch->getElse() && leaving(*branch->getElse())) guards.push_back({branch->getCond(), true, {}});
  } else if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(&statement)) {
    if (leaving(*choice->getTrueExpr())) guards.push_back({choice->getCond(), false, {}});
    if (leaving(*choice->getFalseExpr())) guards.push_back({choice->getCond(), true, {}});
  } else if (const auto* op = llvm::dyn_cast<clang::BinaryOperator>(&statement); op && op->isLogicalOp()) {
    if (leaving(*op->getRHS())) guards.push_back({op->getLHS(), op->getOpcode() == clang::BO_LOr, {}});
  } else if (op && op->getOpcode() == clang::BO_Assign) {
    addBehindValue(*op->getRHS(), ast, guards);
  }
}

} // namespace

const clang::Expr& plainCondition(const clang::Expr& condition) {
  const clang::Expr* expr = condition.IgnoreParenImpCasts();
  for (;;) {
    const auto* cast = llvm::dyn_cast<clang::ExplicitCastExpr>(expr);
    const auto* full = llvm::dyn_cast<clang::FullExpr>(expr);
    if (cast && cast->getType()->isBooleanType())
      expr = cast->getSubExpr()->IgnoreParenImpCasts();
    else if (full)
      expr = full->getSubExpr()->IgnoreParenImpCasts();
    else
      return *expr;
  }
}

bool isOnce(const clang::DoStmt& loop, const clang::ASTContext& ast) {
  clang::Expr::EvalResult again;
  return !loop.getCond()->isValueDependent() && loop.getCond()->EvaluateAsInt(again, ast) &&
         again.Val.getInt().isZero();
}

bool hasBreak(const clang::Stmt& statement) {
  BreakFinder finder;
  finder.TraverseStmt(const_cast<clang::Stmt*>(&statement));
  return finder.found;
}

bool mayBreak(const clang::DoStmt& loop) { return hasBreak(*loop.getBody()); }

bool leaves(const clang::Stmt& statement) {
  if (leavesFunction(statement) ||
      llvm::isa<clang::BreakStmt, clang::ContinueStmt, clang::GotoStmt>(statement))
    return true;
  const auto* block = llvm::dyn_cast<clang::CompoundStmt>(&statement);
  return block && !block->body_empty() && leaves(*block->body_back());
}

std::vector<Guard> guardsBehind(const clang::Stmt& statement, const clang::ASTContext& ast) {
  std::vector<Guard> guards;
  addBehind(statement, ast, leaves, guards);
  return guards;
}

bool hasInnerLabels(const clang::SwitchStmt& choice) {
  std::size_t all = 0, own = 0;
  for (const clang::SwitchCase* label = choice.getSwitchCaseList(); label; label = label->getNextSwitchCase())
    ++all;
  for (const clang::Stmt* child : choice.getBody()->children())
    for (const auto* label = llvm::dyn_cast<clang::SwitchCase>(child); label;
         label = llvm::dyn_cast<clang::SwitchCase>(label->getSubStmt()))
      ++own;
  return all != own;
}

std::vector<const clang::Expr*> casesOf(const clang::CompoundStmt& body) {
  std::vector<const clang::Expr*> cases;
  for (const clang::Stmt* child : body.body())
    for (const auto* label = llvm::dyn_cast<clang::SwitchCase>(child); label;
         label = llvm::dyn_cast<clang::SwitchCase>(label->getSubStmt())) {
      const auto* value = llvm::dyn_cast<clang::CaseStmt>(label);
      if (value && value->getRHS()) return {};
      if (value) cases.push_back(value->getLHS());
    }
  return cases;
}

} // namespace kcheck::frontend
