// Values of variables and parameters, and through calls of helpers: which of the expressions that give them a
// value counts at the place that asks.
#include "frontend/host_folder.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/SourceManager.h>

namespace kcheck::frontend {

bool Folder::isFollowed(const clang::VarDecl& variable) const {
  return values.isOwn(variable) && !values.hasOtherUses(variable);
}

/// The event that counts at `user`: the last that whoever comes there has come by in the same round, with no
/// other that may have come between. What was before `start`, which is passed as well, does not count. Not
/// known where branches, loops or lambdas make the order uncertain.
Folder::Latest Folder::lastBefore(const std::vector<Event>& events, const clang::VarDecl& variable,
                                  clang::SourceLocation user, bool hasStart,
                                  clang::SourceLocation start) const {
  if (events.empty()) return {true, nullptr};
  if (events.size() == 1 && !hasStart) return {true, &events.front()};
  const auto entry = values.uses.variables.find(variable.getCanonicalDecl());
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(variable.getDeclContext());
  const clang::Stmt* home = entry == values.uses.variables.end()      ? nullptr
                            : llvm::isa<clang::ParmVarDecl>(variable) ? function->getBody()
                                                                      : entry->second.declaredIn;
  if (!home || values.uses.hasLabels) return {};
  const clang::SourceManager& sources = ast.getSourceManager();
  if (!contains(sources, home->getSourceRange(), user)) return {};
  for (const clang::SourceRange& body : values.uses.lambdas)
    if (contains(sources, body, user) && !contains(sources, body, variable.getLocation())) return {};
  const Event* last = nullptr;
  for (const Event& event : events) {
    if (!function || event.function != function->getCanonicalDecl()) return {};
    if (start.isValid() && isBefore(sources, event.where, start)) continue;
    if (isPassed(event, user) && (!last || isBefore(sources, last->where, event.where))) last = &event;
  }
  if (!last && start.isInvalid() && !variable.hasLocalStorage()) return {}; // what an earlier call has left
  const clang::SourceLocation since = last ? last->where : start.isValid() ? start : variable.getLocation();
  for (const Event& event : events)
    if (&event != last && mayComeBetween(event, since, user)) return {};
  return {true, last};
}

template <typename Value>
std::optional<Value> Folder::within(ScopePointer inner, const clang::Expr& expr, Evaluate<Value> evaluate) {
  std::swap(scope, inner);
  std::optional<Value> value = (this->*evaluate)(expr);
  std::swap(scope, inner);
  return value;
}

template <typename Value> std::optional<Value> Folder::through(const Event& event, Evaluate<Value> evaluate) {
  if (event.value) return (this->*evaluate)(*event.value);
  if constexpr (std::is_same_v<Value, PointerValue>)
    if (event.allocation) return PointerValue{buffer(*event.allocation), 0};
  if constexpr (std::is_same_v<Value, Formula>)
    if (event.allocation && isNamed(*event.allocation, "cudaMallocPitch")) return pitchOf(*event.allocation);
  return std::nullopt;
}

/// Static variables keep what the first call has made.
template <typename Value>
std::optional<Value> Folder::ofInit(const clang::VarDecl& variable, const clang::Expr& init,
                                    Evaluate<Value> evaluate) {
  if (!variable.isStaticLocal()) return (this->*evaluate)(init);
  return ofSomeRound(variable, [&] { return (this->*evaluate)(init); });
}

/// Of what a reference is another name for the value at the place of `user` counts.
template <typename Value>
std::optional<Value> Folder::throughReference(const clang::Expr* init, const clang::Expr& user,
                                              Evaluate<Value> evaluate) {
  if (!init) return std::nullopt;
  if (isTemporary(*init)) return (this->*evaluate)(*init);
  const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(init->IgnoreParenImpCasts());
  const auto* variable = named ? llvm::dyn_cast<clang::VarDecl>(named->getDecl()) : nullptr;
  if (!variable) return std::nullopt;
  if constexpr (std::is_same_v<Value, Extent>)
    if (!variable->getType()->isReferenceType()) return extentAt({variable->getCanonicalDecl(), {}}, user);
  return throughVariable(*variable, user, evaluate);
}

template <typename Value>
std::optional<Value> Folder::throughVariable(const clang::VarDecl& variable, const clang::Expr& user,
                                             Evaluate<Value> evaluate) {
  if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable)) {
    for (ScopePointer s = scope; s; s = s->outer)
      if (const auto entry = s->arguments.find(parameter); entry != s->arguments.end())
        return within(s->outer, *entry->second, evaluate);
    return agreed(*parameter, evaluate);
  }
  const clang::Expr* init = variable.getAnyInitializer();
  if (variable.getType()->isReferenceType()) return throughReference(init, user, evaluate);
  if (variable.getType().isConstQualified()) return init ? ofInit(variable, *init, evaluate) : std::nullopt;
  const auto entry = values.uses.variables.find(variable.getCanonicalDecl());
  if (!isFollowed(variable)) return std::nullopt;
  static const VariableUses none;
  const VariableUses& own = entry == values.uses.variables.end() ? none : entry->second;
  if (own.loop) return std::nullopt;
  if constexpr (std::is_same_v<Value, PointerValue>)
    if (own.exchangedIn) return exchanged(variable, user);
  return atPlace(variable, user.getBeginLoc(), evaluate);
}

/// The value of a variable that is no parameter, at a place of the text.
template <typename Value>
std::optional<Value> Folder::atPlace(const clang::VarDecl& variable, clang::SourceLocation place,
                                     Evaluate<Value> evaluate) {
  const clang::Expr* init = variable.getAnyInitializer();
  const auto entry = values.uses.variables.find(variable.getCanonicalDecl());
  static const VariableUses none;
  const VariableUses& own = entry == values.uses.variables.end() ? none : entry->second;
  // A global without initialiser starts as zero, and so does what it counts; a pointer waits for its buffer.
  constexpr bool isPointer = std::is_same_v<Value, PointerValue>;
  const bool startsNull = isPointer && init && isNull(*init);
  const bool hasStart = isPointer ? init && !startsNull : init || !variable.hasLocalStorage();
  std::vector<Event> events = own.events;
  if (isPointer && events.size() > 1) // freed and forgotten: `d = nullptr`
    std::erase_if(events, [&](const Event& event) { return event.value && isNull(*event.value); });
  const Latest latest = lastBefore(events, variable, place, hasStart);
  if constexpr (std::is_same_v<Value, Formulas>)
    if (!latest.known) return chosen(variable, events, place, evaluate);
  if (!latest.known) return std::nullopt;
  if (latest.event) return through(*latest.event, variable, place, evaluate);
  return init ? ofInit(variable, *init, evaluate) : std::nullopt;
}

/// A pointer that a loop exchanges with another one: what it holds depends on the pass.
std::optional<PointerValue> Folder::exchanged(const clang::VarDecl& variable, const clang::Expr& user) {
  const clang::Stmt* loop = values.uses.variables.at(variable.getCanonicalDecl()).exchangedIn;
  const Exchange& exchange = values.uses.exchanges.at(loop);
  const clang::VarDecl* other =
      exchange.first == variable.getCanonicalDecl() ? exchange.second : exchange.first;
  const clang::SourceManager& sources = ast.getSourceManager();
  const auto isBefore = [&](clang::SourceLocation a, clang::SourceLocation b) {
    return sources.isBeforeInTranslationUnit(sources.getExpansionLoc(a), sources.getExpansionLoc(b));
  };
  const clang::SourceLocation here = user.getBeginLoc(), begin = loop->getBeginLoc();
  const auto home = values.uses.homes.find(loop);
  for (const clang::VarDecl* one : {&variable, other}) {
    const VariableUses& own = values.uses.variables.at(one->getCanonicalDecl());
    if (exchange.isSkipped || home == values.uses.homes.end() || !own.declaredIn ||
        own.declaredIn != home->second || !isFollowed(*one))
      return std::nullopt;
    for (const Event& event : own.events)
      if (!isBefore(event.where, begin)) return std::nullopt;
  }
  if (isBefore(here, begin)) return atPlace(variable, here, &Folder::pointer);
  if (isBefore(loop->getEndLoc(), here)) return std::nullopt; // after an unknown number of passes
  for (ScopePointer s = scope; s; s = s->outer) {
    if (s->loop != loop) continue;
    const bool isOther = s->isExchanged != isBefore(exchange.where, here);
    ScopePointer inner = s->outer;
    std::swap(scope, inner);
    auto value = atPlace(isOther ? *other : variable, begin, &Folder::pointer);
    std::swap(scope, inner);
    return value;
  }
  return std::nullopt;
}

bool Folder::isNull(const clang::Expr& expr) const {
  return expr.isNullPointerConstant(const_cast<clang::ASTContext&>(ast),
                                    clang::Expr::NPC_ValueDependentIsNotNull) != clang::Expr::NPCK_NotNull;
}

/// The value of a parameter, as far as all callers pass the same.
template <typename Value>
std::optional<Value> Folder::agreed(const clang::ParmVarDecl& parameter, Evaluate<Value> evaluate) {
  std::optional<Value> common;
  for (const clang::Expr* argument : values.argumentsFor(parameter)) {
    const std::optional<Value> value = within(nullptr, *argument, evaluate);
    common = !value ? std::nullopt : common ? shared(*common, *value) : value;
    if (!common) return std::nullopt;
  }
  return common;
}

/// The scope of a called function's body.
std::optional<ScopePointer> Folder::enter(const clang::CallExpr& call) const {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  const clang::FunctionDecl* definition = callee ? callee->getDefinition() : nullptr;
  if (!definition || call.getNumArgs() < definition->getNumParams()) return std::nullopt;
  auto inner = std::make_shared<Scope>();
  unsigned skip = 0;
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(definition); method && !method->isStatic()) {
    if (method->isVirtual()) return std::nullopt;
    if (const auto* called = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call))
      inner->object = called->getImplicitObjectArgument();
    else if (llvm::isa<clang::CXXOperatorCallExpr>(call))
      inner->object = call.getArg(0), skip = 1;
    else
      return std::nullopt;
  }
  if (call.getNumArgs() < definition->getNumParams() + skip) return std::nullopt;
  for (unsigned i = 0; i < definition->getNumParams(); ++i) {
    const clang::ParmVarDecl* parameter = definition->getParamDecl(i);
    // What is done through a reference is known of the variable that it leads to, not of a value without
    // name.
    const clang::Expr& given = *call.getArg(i + skip);
    const bool isFollowed = parameter->getType()->isLValueReferenceType() &&
                            llvm::isa<clang::DeclRefExpr>(given.IgnoreParenImpCasts());
    if (!isFollowed && !values.isUnchanged(*parameter)) continue;
    inner->arguments[parameter] = &given;
  }
  inner->function = definition->getCanonicalDecl();
  inner->entry = &call;
  inner->outer = scope;
  return inner;
}

/// The same of a constructor's; `entry` tells objects apart.
std::optional<ScopePointer> Folder::enter(const clang::CXXConstructExpr& made, const void* entry) const {
  const auto* definition =
      llvm::cast_or_null<clang::CXXConstructorDecl>(made.getConstructor()->getDefinition());
  if (!definition || made.getNumArgs() < definition->getNumParams()) return std::nullopt;
  auto body = std::make_shared<Scope>();
  for (unsigned i = 0; i < definition->getNumParams(); ++i)
    if (values.isUnchanged(*definition->getParamDecl(i)))
      body->arguments[definition->getParamDecl(i)] = made.getArg(i);
  body->function = definition->getCanonicalDecl();
  body->entry = entry;
  body->outer = scope;
  return body;
}

template <typename Value>
std::optional<Value> Folder::throughHelper(const clang::CallExpr& call, Evaluate<Value> evaluate) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  const clang::Expr* result = callee ? onlyReturn(*callee) : nullptr;
  if (!result) return std::nullopt;
  auto inner = enter(call);
  return inner ? within(std::move(*inner), *result, evaluate) : std::nullopt;
}

template std::optional<Number> Folder::throughVariable(const clang::VarDecl&, const clang::Expr&,
                                                       Evaluate<Number>);
template std::optional<Extent> Folder::throughVariable(const clang::VarDecl&, const clang::Expr&,
                                                       Evaluate<Extent>);
template std::optional<PointerValue> Folder::throughVariable(const clang::VarDecl&, const clang::Expr&,
                                                             Evaluate<PointerValue>);
template std::optional<Formulas> Folder::throughVariable(const clang::VarDecl&, const clang::Expr&,
                                                         Evaluate<Formulas>);
template std::optional<Formulas> Folder::throughHelper(const clang::CallExpr&, Evaluate<Formulas>);
template std::optional<Formula> Folder::within(ScopePointer, const clang::Expr&, Evaluate<Formula>);
template std::optional<Number> Folder::throughHelper(const clang::CallExpr&, Evaluate<Number>);
template std::optional<Extent> Folder::throughHelper(const clang::CallExpr&, Evaluate<Extent>);
template std::optional<PointerValue> Folder::throughHelper(const clang::CallExpr&, Evaluate<PointerValue>);
template std::optional<Number> Folder::through(const Event&, Evaluate<Number>);
template std::optional<Formula> Folder::through(const Event&, Evaluate<Formula>);
template std::optional<Formulas> Folder::through(const Event&, Evaluate<Formulas>);
template std::optional<Extent> Folder::through(const Event&, Evaluate<Extent>);
template std::optional<PointerValue> Folder::through(const Event&, Evaluate<PointerValue>);

} // namespace kcheck::frontend
