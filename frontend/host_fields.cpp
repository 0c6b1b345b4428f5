// Fields of structures and of classes: what was last assigned to one, what the whole was made of, or what a
// constructor or method sets.
#include "frontend/host_folder.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>

namespace kcheck::frontend {

namespace {
constexpr unsigned kMostCopies = 24; ///< of structures, one from the other
}

/// A field of a variable, at the place of `user`.
template <typename Value>
std::optional<Value> Folder::fieldAt(const Slot& slot, const clang::Expr& user, Evaluate<Value> evaluate) {
  const clang::VarDecl& variable = *slot.root;
  if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable)) {
    for (ScopePointer s = scope; s; s = s->outer)
      if (const auto entry = s->arguments.find(parameter); entry != s->arguments.end()) {
        auto given = readSlotOf(*entry->second);
        if (!given || !values.isUnchanged(*parameter)) return std::nullopt;
        given->path.insert(given->path.end(), slot.path.begin(), slot.path.end());
        std::swap(scope, s);
        const ScopePointer inner = s;
        scope = scope->outer;
        std::optional<Value> value = fieldAt(*given, *entry->second, evaluate);
        scope = inner;
        return value;
      }
    return std::nullopt;
  }
  if (!isFollowed(variable)) return std::nullopt;
  const clang::FieldDecl& field = *slot.path.back();
  const auto inMethods = values.uses.fieldUses.find(&field);
  if (inMethods != values.uses.fieldUses.end() && inMethods->second.others) return std::nullopt;
  const bool setByMethods = inMethods != values.uses.fieldUses.end() && !inMethods->second.ofThis.empty();
  const clang::Expr* init = variable.getAnyInitializer();
  const clang::SourceLocation place = user.getBeginLoc();
  const auto whole = values.uses.variables.find(&variable);
  const Event* assigned = nullptr; // as a whole
  if (whole != values.uses.variables.end() && !whole->second.events.empty()) {
    const Latest latest = lastBefore(whole->second.events, variable, place, true);
    if (!latest.known || setByMethods || (latest.event && !latest.event->value)) return std::nullopt;
    assigned = latest.event;
  }
  for (std::size_t outer = 1; outer < slot.path.size(); ++outer) { // a member around it, assigned as a whole
    const Slot around{slot.root, {slot.path.begin(), slot.path.begin() + std::ptrdiff_t(outer)}};
    if (values.uses.fields.contains(around)) return std::nullopt;
  }
  if (const auto events = values.uses.fields.find(slot); events != values.uses.fields.end()) {
    const bool startMatters = init && !(std::is_same_v<Value, PointerValue> && !setByMethods &&
                                        llvm::isa<clang::CXXConstructExpr>(init->IgnoreParenImpCasts()));
    const Latest latest =
        lastBefore(events->second, variable, place, startMatters || setByMethods || assigned);
    if (!latest.known || (latest.event && setByMethods)) return std::nullopt;
    const bool isLater =
        latest.event &&
        (!assigned || ast.getSourceManager().isBeforeInTranslationUnit(assigned->where, latest.event->where));
    if (isLater) return through(*latest.event, variable, place, evaluate);
  }
  if (assigned) return fieldOf(*assigned->value, slot.path, evaluate);
  if (!init) return std::nullopt;
  const clang::Expr& made = copiedFrom(*init);
  if (const auto* built = llvm::dyn_cast<clang::CXXConstructExpr>(&made);
      built && !built->getConstructor()->isCopyOrMoveConstructor())
    return slot.path.size() == 1 ? madeField(variable, field, place, evaluate) : std::nullopt;
  return setByMethods ? std::nullopt : fieldOf(*init, slot.path, evaluate);
}

/// A field of a structure that an expression makes: of a list, of another variable, of a helper's result.
template <typename Value>
std::optional<Value> Folder::fieldOf(const clang::Expr& structure,
                                     std::span<const clang::FieldDecl* const> path,
                                     Evaluate<Value> evaluate) {
  if (depth > kMostCopies) return std::nullopt;
  const clang::Expr& expr = copiedFrom(structure);
  std::optional<Value> value;
  ++depth;
  if (auto slot = readSlotOf(expr)) {
    slot->path.insert(slot->path.end(), path.begin(), path.end());
    value = fieldAt(*slot, expr, evaluate);
  } else if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(&expr)) {
    const unsigned index = path.front()->getFieldIndex();
    const auto* type = expr.getType()->getAsCXXRecordDecl();
    const bool isPlain = type && !type->isUnion() && type->getNumBases() == 0;
    if (isPlain && index < list->getNumInits())
      value = path.size() == 1 ? (this->*evaluate)(*list->getInit(index))
                               : fieldOf(*list->getInit(index), path.subspan(1), evaluate);
  } else if (const auto* call = llvm::dyn_cast<clang::CallExpr>(&expr)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    const clang::Expr* result = callee ? onlyReturn(*callee) : nullptr;
    if (auto inner = result ? enter(*call) : std::nullopt) {
      std::swap(scope, *inner);
      value = fieldOf(*result, path, evaluate);
      std::swap(scope, *inner);
    }
  }
  --depth;
  return value;
}

/// A field that a constructor sets, or one call of another method.
template <typename Value>
std::optional<Value> Folder::madeField(const clang::VarDecl& variable, const clang::FieldDecl& field,
                                       clang::SourceLocation user, Evaluate<Value> evaluate) {
  const clang::Expr* init = variable.getAnyInitializer()->IgnoreParenImpCasts();
  if (const auto* full = llvm::dyn_cast<clang::FullExpr>(init))
    init = full->getSubExpr()->IgnoreParenImpCasts();
  const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(init);
  if (!made || made->getConstructor()->isCopyOrMoveConstructor()) return std::nullopt;
  const clang::CXXConstructorDecl* constructor = made->getConstructor()->getCanonicalDecl();
  const auto inMethods = values.uses.fieldUses.find(&field);
  if (inMethods == values.uses.fieldUses.end()) return std::nullopt;
  const Event* event = nullptr;
  for (const Event& one : inMethods->second.ofThis) {
    if (llvm::isa<clang::CXXDestructorDecl>(one.function)) continue;
    if (llvm::isa<clang::CXXConstructorDecl>(one.function) && one.function != constructor) continue;
    if (one.value && std::is_same_v<Value, PointerValue> && isNull(*one.value)) continue;
    if (event) return std::nullopt;
    event = &one;
  }
  if (!event) return std::nullopt;
  const auto valueIn = [&](ScopePointer inner) {
    std::swap(scope, inner);
    std::optional<Value> value = through(*event, evaluate);
    std::swap(scope, inner);
    return value;
  };
  if (event->function == constructor) {
    const auto inBody = [&] {
      auto body = enter(*made, &variable);
      return body ? valueIn(std::move(*body)) : std::nullopt;
    };
    return variable.isStaticLocal() ? ofSomeRound(variable, inBody) : inBody();
  } else {
    const clang::CallExpr* only = nullptr;
    const auto calls = values.uses.functions.find(event->function);
    if (calls == values.uses.functions.end() || calls->second.escapes) return std::nullopt;
    for (const clang::CallExpr* call : calls->second.calls) {
      const auto* called = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
      const auto slot = called ? slotOf(*called->getImplicitObjectArgument()) : std::nullopt;
      if (!slot) return std::nullopt; // on an object that is not known
      if (slot->root != &variable) continue;
      if (only) return std::nullopt;
      only = call;
    }
    if (!only) return std::nullopt;
    const auto inCall = [&] {
      auto entered = enter(*only);
      return entered ? valueIn(std::move(*entered)) : std::nullopt;
    };
    const auto around = values.uses.around.find(only);
    const bool isSame = around != values.uses.around.end() && event->isOfEachCall &&
                        isInSameRound(around->second.region, only->getBeginLoc(), user);
    return isSame ? inCall() : ofSomeRound(variable, inCall);
  }
}

/// What the list of a constructor gives the field, where nothing else sets it: nothing but other constructors
/// and destructors. Null where it is not so.
static const Event* startIn(const std::vector<Event>& events, const clang::FunctionDecl& constructor) {
  const Event* start = nullptr;
  for (const Event& one : events) {
    const bool isOther = one.function != &constructor && llvm::isa<clang::CXXConstructorDecl>(one.function);
    if (isOther || llvm::isa<clang::CXXDestructorDecl>(one.function)) continue;
    if (start || one.function != &constructor || !one.value || one.in) return nullptr;
    start = &one;
  }
  const auto* made = llvm::dyn_cast_or_null<clang::CXXConstructorDecl>(constructor.getDefinition());
  if (!start || !made) return nullptr;
  const bool isInList = llvm::any_of(
      made->inits(), [&](const clang::CXXCtorInitializer* init) { return init->getInit() == start->value; });
  return isInList ? start : nullptr;
}

/// `this->field` in a method: of the object that the method was called on or that a constructor makes, or of
/// every object alike.
template <typename Value>
std::optional<Value> Folder::fieldOfObject(const clang::FieldDecl& field, Evaluate<Value> evaluate) {
  for (ScopePointer s = scope; s; s = s->outer) {
    if (!s->function) continue;
    ScopePointer inner = scope;
    if (!s->object) {
      const auto uses = values.uses.fieldUses.find(&field);
      const bool isKnown = uses != values.uses.fieldUses.end() && !uses->second.others;
      const Event* start = isKnown ? startIn(uses->second.ofThis, *s->function) : nullptr;
      if (!start) break;
      scope = s;
      std::optional<Value> value = through(*start, evaluate);
      scope = inner;
      return value;
    }
    scope = s->outer;
    std::optional<Value> value;
    if (llvm::isa<clang::CXXThisExpr>(s->object->IgnoreParenImpCasts())) {
      value = fieldOfObject(field, evaluate);
    } else if (auto slot = readSlotOf(*s->object)) {
      slot->path.push_back(&field);
      value = fieldAt(*slot, *s->object, evaluate);
    }
    scope = inner;
    return value;
  }
  const auto inMethods = values.uses.fieldUses.find(&field);
  if (inMethods == values.uses.fieldUses.end() || inMethods->second.others) return std::nullopt;
  for (const auto& [slot, events] : values.uses.fields)
    if (slot.path.back() == &field) return std::nullopt;
  const Event* event = nullptr;
  for (const Event& one : inMethods->second.ofThis) {
    if (one.value && std::is_same_v<Value, PointerValue> && isNull(*one.value)) continue;
    if (event) return std::nullopt;
    event = &one;
  }
  if (!event) return std::nullopt;
  ScopePointer inner;
  std::swap(scope, inner);
  if (!event->isOfEachCall) holders.push_back(nullptr);
  std::optional<Value> value = through(*event, evaluate);
  if (!event->isOfEachCall) holders.pop_back();
  std::swap(scope, inner);
  return value;
}

template std::optional<Number> Folder::fieldAt(const Slot&, const clang::Expr&, Evaluate<Number>);
template std::optional<Extent> Folder::fieldAt(const Slot&, const clang::Expr&, Evaluate<Extent>);
template std::optional<PointerValue> Folder::fieldAt(const Slot&, const clang::Expr&, Evaluate<PointerValue>);
template std::optional<Formula> Folder::fieldAt(const Slot&, const clang::Expr&, Evaluate<Formula>);
template std::optional<Formulas> Folder::fieldAt(const Slot&, const clang::Expr&, Evaluate<Formulas>);
template std::optional<Number> Folder::fieldOf(const clang::Expr&, std::span<const clang::FieldDecl* const>,
                                               Evaluate<Number>);
template std::optional<PointerValue>
Folder::fieldOf(const clang::Expr&, std::span<const clang::FieldDecl* const>, Evaluate<PointerValue>);
template std::optional<Formula> Folder::fieldOfObject(const clang::FieldDecl&, Evaluate<Formula>);
template std::optional<Number> Folder::fieldOfObject(const clang::FieldDecl&, Evaluate<Number>);
template std::optional<Extent> Folder::fieldOfObject(const clang::FieldDecl&, Evaluate<Extent>);
template std::optional<PointerValue> Folder::fieldOfObject(const clang::FieldDecl&, Evaluate<PointerValue>);

} // namespace kcheck::frontend
