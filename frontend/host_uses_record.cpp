#include "frontend/host_uses_record.h"

#include "frontend/host_containers.h"
#include "frontend/host_exchanges.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

namespace kcheck::frontend {
namespace {

bool takesReference(const clang::CallExpr& call, unsigned argument) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  return callee && argument < callee->getNumParams() &&
         callee->getParamDecl(argument)->getType()->isReferenceType();
}

} // namespace

const clang::Expr* rootOf(const clang::Expr* expr) {
  expr = expr->IgnoreParenImpCasts();
  while (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expr)) {
    if (llvm::isa<clang::CXXThisExpr>(member->getBase()->IgnoreParenImpCasts())) return member;
    if (member->isArrow()) return nullptr;
    expr = member->getBase()->IgnoreParenImpCasts();
  }
  return llvm::dyn_cast<clang::DeclRefExpr>(expr);
}

void UsesRecord::settle(const clang::Expr* lvalue) {
  lvalue = lvalue->IgnoreParenImpCasts();
  settled.insert(lvalue);
  if (const clang::Expr* root = rootOf(lvalue)) settled.insert(root);
}

const clang::CompoundStmt* UsesRecord::blockOf(const clang::Stmt* statement) const {
  const auto found = statementOf.find(statement);
  return found == statementOf.end() ? nullptr : found->second;
}

bool UsesRecord::noteEvent(const clang::Expr& lvalue, Event event) {
  event.function = around.function;
  event.region = around.region;
  const clang::FunctionDecl* definition = around.function ? around.function->getDefinition() : nullptr;
  event.isOfEachCall = definition && definition->hasBody() && !around.mayHaveReturned &&
                       event.region == definition->getBody()->getSourceRange();
  event.rounds = around.rounds;
  event.again = around.again;
  event.branches = around.branches;
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

void UsesRecord::noteMethod(const clang::CXXMemberCallExpr& call) {
  const SizeEffect effect = sizeEffect(call);
  const clang::Expr& object = *call.getImplicitObjectArgument();
  if (effect.keeps) settle(&object);
  if (effect.sets) noteEvent(object, {effect.sets, nullptr, blockOf(&call), call.getExprLoc()});
}

void UsesRecord::noteInitializers(const clang::CXXConstructorDecl& made) {
  for (const clang::CXXCtorInitializer* init : made.inits())
    if (init->isMemberInitializer() && init->isWritten())
      uses.fieldUses[init->getMember()->getCanonicalDecl()].ofThis.push_back(
          {init->getInit(), nullptr, nullptr, init->getSourceLocation(), made.getCanonicalDecl()});
}

void UsesRecord::noteAllocation(const clang::CallExpr& call, const AllocationCall& allocation) {
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

void UsesRecord::noteChange(const clang::Expr& lvalue, const clang::Expr& change) {
  if (settled.contains(lvalue.IgnoreParenImpCasts()) || !lvalue.getType()->isIntegralOrEnumerationType())
    return; // of a loop's own counter
  Event event{nullptr, nullptr, blockOf(&change), change.getExprLoc()};
  event.change = &change;
  noteEvent(lvalue, event);
}

/// Those of the C library and of the CUDA API that are no templates keep no pointers to numbers, but for
/// asynchronous copies, whose parameters say nothing of numbers. `scanf` does not say what it takes.
void UsesRecord::noteInputs(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (!callee || !sources.isInSystemHeader(callee->getLocation())) return;
  if (const auto* op = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call)) {
    if (op->getOperator() != clang::OO_GreaterGreater || op->getNumArgs() != 2) return;
    if (op->getArg(1)->isLValue() && op->getArg(1)->getType()->isIntegralOrEnumerationType())
      noteEvent(*op->getArg(1), {nullptr, nullptr, nullptr, op->getOperatorLoc()});
    return;
  }
  if (llvm::isa<clang::CXXMethodDecl>(callee) || !callee->getIdentifier()) return;
  const llvm::StringRef name = callee->getName();
  const bool isCopy = name == "cudaMemcpy" || name == "cudaMemcpyFromSymbol";
  if (callee->isTemplateInstantiation() && !name.starts_with("cudaOccupancy") && !isCopy) return;
  if (name == "cudaMallocPitch") return; // the pitch is the allocation's
  for (unsigned i = 0; i < call.getNumArgs(); ++i) {
    const auto* address = llvm::dyn_cast<clang::UnaryOperator>(call.getArg(i)->IgnoreParenCasts());
    if (!address || address->getOpcode() != clang::UO_AddrOf) continue;
    const clang::Expr& written = *address->getSubExpr();
    if (!written.getType()->isIntegralOrEnumerationType() || written.getType().isConstQualified()) continue;
    const clang::QualType pointer =
        i < callee->getNumParams() ? callee->getParamDecl(i)->getType() : clang::QualType();
    const clang::QualType pointee = pointer.isNull() ? pointer : pointer->getPointeeType();
    if (!pointee.isNull() && pointee.isConstQualified()) settle(&written); // only reads it
    const bool isNumber = pointee.isNull() ? pointer.isNull() && name.ends_with("scanf")
                                           : pointee->isIntegerType() && !pointee.isConstQualified();
    if (isNumber || (isCopy && i == 0))
      noteEvent(written, {nullptr, nullptr, blockOf(&call), call.getBeginLoc()});
  }
}

void UsesRecord::noteReferences(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  const clang::FunctionDecl* definition = callee ? callee->getDefinition() : nullptr;
  if (!definition || sources.isInSystemHeader(definition->getLocation()) ||
      llvm::isa<clang::CXXOperatorCallExpr>(call))
    return;
  const auto allocation = allocationCall(call);
  for (unsigned i = 0; i < std::min(call.getNumArgs(), definition->getNumParams()); ++i) {
    const clang::ParmVarDecl* parameter = definition->getParamDecl(i);
    if (!parameter->getType()->isLValueReferenceType() || (allocation && allocation->pointer == i)) continue;
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(call.getArg(i)->IgnoreParens());
    const auto* variable = reference ? llvm::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
    if (!variable) continue;
    settle(reference);
    uses.variables[variable->getCanonicalDecl()].passedTo.push_back(parameter->getCanonicalDecl());
  }
}

void UsesRecord::noteLoop(const clang::ForStmt& loop) {
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

void UsesRecord::settleArguments(const clang::Expr& expr) {
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

void UsesRecord::settleConfiguration(const clang::CallExpr& call) {
  const auto* address = llvm::dyn_cast<clang::UnaryOperator>(call.getArg(0)->IgnoreParenImpCasts());
  if (address && address->getOpcode() == clang::UO_AddrOf) settle(address->getSubExpr());
}

void UsesRecord::noteSwaps(const clang::CompoundStmt& block) {
  for (const FoundExchange& found : exchangesIn(block)) {
    if (!found.exchange.first || !found.exchange.second) continue;
    uses.swaps.emplace(found.exchange.first, found.exchange.second);
    for (const clang::BinaryOperator* assignment : found.assignments)
      uses.inSwaps.insert(assignment->getRHS());
  }
}

void UsesRecord::noteExchanges(const clang::CompoundStmt& body) {
  for (const FoundExchange& found : exchangesIn(body)) {
    if (!enter(found.exchange)) continue;
    for (const clang::Expr* part : found.parts) settle(part);
    exchanging.insert(found.assignments.begin(), found.assignments.end());
  }
}

/// Only one exchange in a loop is understood.
bool UsesRecord::enter(const Exchange& exchange) {
  if (!exchange.first || !exchange.second || exchange.first == exchange.second) return false;
  const clang::Stmt* loop = around.loops.back();
  VariableUses &first = uses.variables[exchange.first], &second = uses.variables[exchange.second];
  if (first.exchangedIn || second.exchangedIn || uses.exchanges.contains(loop)) return false;
  first.exchangedIn = second.exchangedIn = loop;
  uses.exchanges[loop] = exchange;
  return true;
}

} // namespace kcheck::frontend
