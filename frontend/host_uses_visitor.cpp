// The walk behind gatherUses: each reference to a variable or field is either understood (read, assigned,
// allocated into) or counts against it.
#include "frontend/host_uses.h"

#include "frontend/host_containers.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

namespace kcheck::frontend {
namespace {

bool isLaunchCall(const clang::CallExpr& call) {
  return isNamed(call, "cudaLaunchKernel") || isNamed(call, "cudaLaunchCooperativeKernel");
}

/// The variable or field at the root of `a.b.c`: the expression whose use must be settled.
const clang::Expr* rootOf(const clang::Expr* expr) {
  expr = expr->IgnoreParenImpCasts();
  while (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expr)) {
    if (llvm::isa<clang::CXXThisExpr>(member->getBase()->IgnoreParenImpCasts())) return member;
    if (member->isArrow()) return nullptr;
    expr = member->getBase()->IgnoreParenImpCasts();
  }
  return llvm::dyn_cast<clang::DeclRefExpr>(expr);
}

class UsesVisitor : public clang::RecursiveASTVisitor<UsesVisitor> {
  using Base = clang::RecursiveASTVisitor<UsesVisitor>;

public:
  UsesVisitor(const clang::ASTContext& ast, HostUses& uses) : sources(ast.getSourceManager()), uses(uses) {}

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
    for (clang::Stmt* child : block->body()) {
      const clang::Stmt* plain = child;
      if (const auto* expr = llvm::dyn_cast<clang::Expr>(child)) plain = expr->IgnoreParenImpCasts();
      statementOf[plain] = block;
      if (const auto* full = llvm::dyn_cast<clang::FullExpr>(plain))
        statementOf[full->getSubExpr()->IgnoreParenImpCasts()] = block;
    }
    if (isLoopBody(*block)) noteExchange(*block);
    // What follows `if (c) return;` in the block is reached when c is false.
    const std::size_t outside = around.guards.size();
    bool ok = true;
    for (clang::Stmt* child : block->body()) {
      ok = ok && TraverseStmt(child);
      const auto* branch = llvm::dyn_cast<clang::IfStmt>(child);
      if (branch && !branch->getElse() && leaves(*branch->getThen()))
        around.guards.push_back({branch->getCond(), false, {}});
    }
    around.guards.resize(outside);
    return ok;
  }
  /// The statements of each case run when the value is that of a label above, back to the last `break`.
  bool TraverseSwitchStmt(clang::SwitchStmt* choice) {
    auto* body = llvm::dyn_cast<clang::CompoundStmt>(choice->getBody());
    if (!body || choice->getInit() || choice->getConditionVariable()) return Base::TraverseSwitchStmt(choice);
    if (!TraverseStmt(choice->getCond())) return false;
    std::vector<const clang::Expr*> cases;
    bool hasDefault = false, fallsThrough = false, ok = true;
    for (clang::Stmt* child : body->body()) {
      if (llvm::isa<clang::SwitchCase>(child) && !fallsThrough) cases.clear(), hasDefault = false;
      clang::Stmt* statement = child;
      while (auto* label = llvm::dyn_cast<clang::SwitchCase>(statement)) {
        const auto* value = llvm::dyn_cast<clang::CaseStmt>(label);
        hasDefault |= !value || value->getRHS(); // a range of values counts as any
        if (value) cases.push_back(value->getLHS());
        statement = label->getSubStmt();
      }
      const bool isKnown = !cases.empty() && !hasDefault;
      if (isKnown) around.guards.push_back({choice->getCond(), true, cases});
      ok = ok && TraverseStmt(child);
      if (isKnown) around.guards.pop_back();
      fallsThrough = !leaves(*statement);
    }
    return ok;
  }
  bool TraverseIfStmt(clang::IfStmt* branch) {
    if (branch->getInit() && !TraverseStmt(branch->getInit())) return false;
    if (branch->getConditionVariableDeclStmt() && !TraverseStmt(branch->getConditionVariableDeclStmt()))
      return false;
    if (!TraverseStmt(branch->getCond())) return false;
    around.guards.push_back({branch->getCond(), true, {}});
    bool ok = TraverseStmt(branch->getThen());
    around.guards.back().must = false;
    ok = ok && (!branch->getElse() || TraverseStmt(branch->getElse()));
    around.guards.pop_back();
    return ok;
  }
  bool TraverseForStmt(clang::ForStmt* loop) {
    noteLoop(*loop);
    uses.homes[loop] = blockOf(loop);
    around.loops.push_back(loop);
    const bool result = Base::TraverseForStmt(loop);
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
    const bool result = Base::TraverseCXXForRangeStmt(loop);
    around.loops.pop_back();
    return result;
  }

  // Parents come before children: what a parent knows of a reference is not asked again.
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* cast) {
    const bool reads = cast->getCastKind() == clang::CK_LValueToRValue ||
                       (cast->getCastKind() == clang::CK_NoOp && cast->getType().isConstQualified());
    if (reads) settle(cast->getSubExpr());
    return true;
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
  bool VisitBinaryOperator(clang::BinaryOperator* op) {
    if (op->getOpcode() == clang::BO_Assign && !exchanging.contains(op))
      noteEvent(*op->getLHS(), {op->getRHS(), nullptr, blockOf(op), op->getOperatorLoc()});
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
    if (!method || call->getOperator() != clang::OO_Equal || !(counted || method->isDefaulted())) return true;
    noteEvent(*call->getArg(0), {call->getArg(1), nullptr, blockOf(call), call->getOperatorLoc()});
    return true;
  }
  bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr* call) {
    if (isCounted(call->getImplicitObjectArgument()->getType())) {
      noteMethod(*call);
      return true;
    }
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
  /// Whether control never goes on behind the statement.
  static bool leaves(const clang::Stmt& statement) {
    if (llvm::isa<clang::ReturnStmt, clang::BreakStmt, clang::ContinueStmt, clang::GotoStmt,
                  clang::CXXThrowExpr>(statement))
      return true;
    const auto* block = llvm::dyn_cast<clang::CompoundStmt>(&statement);
    return block && !block->body_empty() && leaves(*block->body_back());
  }
  static bool rootIsReference(const clang::MemberExpr& member) {
    const auto* root = llvm::dyn_cast_or_null<clang::DeclRefExpr>(rootOf(&member));
    return !root || root->getDecl()->getType()->isReferenceType();
  }
  void settle(const clang::Expr* lvalue) {
    lvalue = lvalue->IgnoreParenImpCasts();
    settled.insert(lvalue);
    if (const clang::Expr* root = rootOf(lvalue)) settled.insert(root);
  }
  const clang::CompoundStmt* blockOf(const clang::Stmt* statement) const {
    const auto found = statementOf.find(statement);
    return found == statementOf.end() ? nullptr : found->second;
  }
  /// Whether the lvalue names something whose changes are followed; then it is settled.
  bool noteEvent(const clang::Expr& lvalue, Event event) {
    event.function = around.function;
    event.isInLoop = !around.loops.empty();
    if (auto slot = slotOf(lvalue)) {
      settle(&lvalue);
      if (slot->path.empty())
        uses.variables[slot->root].events.push_back(event);
      else
        uses.fields[*slot].push_back(event);
      return true;
    }
    if (const clang::FieldDecl* field = fieldOfThis(lvalue)) {
      settle(&lvalue);
      uses.fieldUses[field].ofThis.push_back(event);
      return true;
    }
    return false;
  }
  bool isLoopBody(const clang::CompoundStmt& block) const {
    const auto* loop = around.loops.empty() ? nullptr : llvm::dyn_cast<clang::ForStmt>(around.loops.back());
    return loop && loop->getBody() == &block;
  }
  /// The local pointer that an expression names.
  static const clang::VarDecl* localPointer(const clang::Expr* expr) {
    const auto* reference = expr ? llvm::dyn_cast<clang::DeclRefExpr>(expr->IgnoreParenImpCasts()) : nullptr;
    const auto* variable = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
    if (!variable || !variable->isLocalVarDecl() || !variable->hasLocalStorage()) return nullptr;
    return variable->getType()->isPointerType() ? variable->getCanonicalDecl() : nullptr;
  }
  static const clang::BinaryOperator* asAssignment(const clang::Stmt* statement) {
    const auto* op = llvm::dyn_cast<clang::BinaryOperator>(statement);
    return op && op->getOpcode() == clang::BO_Assign ? op : nullptr;
  }
  /// `std::swap(a, b);` or `t = a; a = b; b = t;` with a new t. Only one in a loop is understood.
  void noteExchange(const clang::CompoundStmt& body) {
    const clang::Stmt* previous[2] = {};
    for (const clang::Stmt* child : body.body()) {
      Exchange exchange;
      exchange.where = child->getBeginLoc();
      std::vector<const clang::Expr*> parts;
      const auto* expr = llvm::dyn_cast<clang::Expr>(child);
      const auto* call = expr ? llvm::dyn_cast<clang::CallExpr>(expr->IgnoreImplicit()) : nullptr;
      if (call && isNamed(*call, "swap") && call->getDirectCallee()->isInStdNamespace() &&
          call->getNumArgs() == 2) {
        parts = {call->getArg(0), call->getArg(1)};
      } else if (const auto* last = asAssignment(child),
                 *middle = previous[1] ? asAssignment(previous[1]) : nullptr;
                 last && middle && previous[0]) {
        const auto* start = llvm::dyn_cast<clang::DeclStmt>(previous[0]);
        const auto* kept =
            start && start->isSingleDecl() ? llvm::dyn_cast<clang::VarDecl>(start->getSingleDecl()) : nullptr;
        const bool rotates = kept && localPointer(last->getRHS()) == kept->getCanonicalDecl() &&
                             localPointer(kept->getInit()) == localPointer(middle->getLHS()) &&
                             localPointer(middle->getRHS()) == localPointer(last->getLHS());
        if (rotates) parts = {middle->getLHS(), last->getLHS()};
      }
      if (!parts.empty()) {
        exchange.first = localPointer(parts[0]);
        exchange.second = localPointer(parts[1]);
        if (enter(exchange)) {
          for (const clang::Expr* part : parts) settle(part);
          if (!call) exchanging.insert({asAssignment(previous[1]), asAssignment(child)});
        }
      }
      previous[0] = previous[1];
      previous[1] = child;
    }
  }
  bool enter(const Exchange& exchange) {
    if (!exchange.first || !exchange.second || exchange.first == exchange.second) return false;
    const clang::Stmt* loop = around.loops.back();
    VariableUses &first = uses.variables[exchange.first], &second = uses.variables[exchange.second];
    if (first.exchangedIn || second.exchangedIn || uses.exchanges.contains(loop)) return false;
    first.exchangedIn = second.exchangedIn = loop;
    uses.exchanges[loop] = exchange;
    return true;
  }
  /// Of a container: its elements are not followed, their number is.
  void noteMethod(const clang::CXXMemberCallExpr& call) {
    const SizeEffect effect = sizeEffect(call);
    const clang::Expr& object = *call.getImplicitObjectArgument();
    if (effect.keeps) settle(&object);
    if (effect.sets) noteEvent(object, {effect.sets, nullptr, blockOf(&call), call.getExprLoc()});
  }
  void noteInitializers(const clang::CXXConstructorDecl& made) {
    for (const clang::CXXCtorInitializer* init : made.inits())
      if (init->isMemberInitializer() && init->isWritten())
        uses.fieldUses[init->getMember()->getCanonicalDecl()].ofThis.push_back(
            {init->getInit(), nullptr, nullptr, init->getSourceLocation(), made.getCanonicalDecl()});
  }
  void noteAllocation(const clang::CallExpr& call, const AllocationCall& allocation) {
    const clang::Expr* pointer = call.getArg(allocation.pointer)->IgnoreParenCasts();
    if (const auto* address = llvm::dyn_cast<clang::UnaryOperator>(pointer);
        address && address->getOpcode() == clang::UO_AddrOf)
      pointer = address->getSubExpr()->IgnoreParens();
    else if (!pointer->isLValue() || pointer->getType()->isPointerType() != true || !allocation.inHelper)
      return; // a pointer to the pointer, held elsewhere
    else if (!takesReference(call, allocation.pointer))
      return;
    noteEvent(*pointer, {nullptr, &call, blockOf(&call), call.getBeginLoc()});
  }
  /// What a function does to its parameter, it does to the variable.
  void noteReferences(const clang::CallExpr& call) {
    const clang::FunctionDecl* callee = call.getDirectCallee();
    const clang::FunctionDecl* definition = callee ? callee->getDefinition() : nullptr;
    if (!definition || sources.isInSystemHeader(definition->getLocation()) ||
        llvm::isa<clang::CXXOperatorCallExpr>(call))
      return;
    const auto allocation = allocationCall(call);
    for (unsigned i = 0; i < std::min(call.getNumArgs(), definition->getNumParams()); ++i) {
      const clang::ParmVarDecl* parameter = definition->getParamDecl(i);
      if (!parameter->getType()->isLValueReferenceType() || (allocation && allocation->pointer == i))
        continue;
      const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(call.getArg(i)->IgnoreParens());
      const auto* variable = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
      if (!variable) continue;
      settle(reference);
      uses.variables[variable->getCanonicalDecl()].passedTo.push_back(parameter->getCanonicalDecl());
    }
  }
  static bool takesReference(const clang::CallExpr& call, unsigned argument) {
    const clang::FunctionDecl* callee = call.getDirectCallee();
    return callee && argument < callee->getNumParams() &&
           callee->getParamDecl(argument)->getType()->isReferenceType();
  }
  /// `for (int i = 1; i < 8; i *= 2)`: the update is the loop's own.
  void noteLoop(const clang::ForStmt& loop) {
    const clang::Expr* update = loop.getInc() ? loop.getInc()->IgnoreParenImpCasts() : nullptr;
    const clang::Expr* target = nullptr;
    if (const auto* unary = llvm::dyn_cast_or_null<clang::UnaryOperator>(update))
      target = unary->isIncrementDecrementOp() ? unary->getSubExpr() : nullptr;
    if (const auto* binary = llvm::dyn_cast_or_null<clang::CompoundAssignOperator>(update))
      target = binary->getLHS();
    const auto* reference =
        target ? llvm::dyn_cast<clang::DeclRefExpr>(target->IgnoreParenImpCasts()) : nullptr;
    const auto* variable = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
    const auto* start = llvm::dyn_cast_or_null<clang::DeclStmt>(loop.getInit());
    if (!variable || !start || !start->isSingleDecl() || start->getSingleDecl() != variable) return;
    settle(target);
    uses.variables[variable->getCanonicalDecl()].loop = &loop;
  }
  /// `void* args[] = {&n, &d}` of a launch call: the launch only reads them.
  void settleArguments(const clang::Expr& expr) {
    const auto* array = llvm::dyn_cast<clang::DeclRefExpr>(expr.IgnoreParenCasts());
    const auto* variable = array ? llvm::dyn_cast<clang::VarDecl>(array->getDecl()) : nullptr;
    const auto* list =
        variable && variable->getInit() ? llvm::dyn_cast<clang::InitListExpr>(variable->getInit()) : nullptr;
    if (!list) return;
    settle(array);
    for (const clang::Expr* element : list->inits())
      if (const auto passed = addressedSlot(*element))
        if (auto entry = uses.variables.find(passed->root); entry != uses.variables.end())
          entry->second.others -= entry->second.others > 0; // counted when the declaration was visited
  }
  /// cudaLaunchKernelEx(&config, kernel, ...) reads its configuration.
  void settleConfiguration(const clang::CallExpr& call) {
    const auto* address = llvm::dyn_cast<clang::UnaryOperator>(call.getArg(0)->IgnoreParenImpCasts());
    if (address && address->getOpcode() == clang::UO_AddrOf) settle(address->getSubExpr());
  }

  const clang::SourceManager& sources;
  HostUses& uses;
  Around around;
  std::map<const clang::Stmt*, const clang::CompoundStmt*> statementOf;
  std::set<const clang::Expr*> settled;
  std::set<const clang::BinaryOperator*> exchanging; ///< assignments that are parts of an exchange
  std::set<const clang::DeclRefExpr*> called;
};

} // namespace

HostUses gatherUses(const clang::ASTContext& ast, bool wholeProgram) {
  HostUses uses;
  uses.wholeProgram = wholeProgram;
  UsesVisitor(ast, uses).TraverseDecl(ast.getTranslationUnitDecl());
  return uses;
}

} // namespace kcheck::frontend
