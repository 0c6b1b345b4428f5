// One evaluation of a host expression. Used by host_values and the files beside it only.
#pragma once

#include "frontend/host_numbers.h"
#include "frontend/host_values.h"

namespace clang {
class ArraySubscriptExpr;
class BinaryOperator;
class CastExpr;
class CXXConstructExpr;
class MemberExpr;
class UnaryOperator;
} // namespace clang

namespace kcheck::frontend {

/// Whether that part of the text has the place in it (host_rounds.cpp).
bool contains(const clang::SourceManager& sources, clang::SourceRange range, clang::SourceLocation where);
/// Whether the one place of the text is in front of the other, also in what one macro writes.
bool isBefore(const clang::SourceManager& sources, clang::SourceLocation a, clang::SourceLocation b);

/// Of the axes of an extent.
using Formulas = std::array<std::optional<Formula>, 3>;

/// Of both the first where the condition holds, else the second.
Formulas choiceOf(const Formula& condition, const Formulas& first, const Formulas& second);

class Folder {
public:
  Folder(const HostValues& values, ScopePointer scope)
      : values(values), ast(values.ast), scope(std::move(scope)) {}

  std::optional<Number> number(const clang::Expr& expr) { return guarded(expr, &Folder::numberOf); }
  std::optional<Extent> extent(const clang::Expr& expr) { return guarded(expr, &Folder::extentOf); }
  std::optional<Number> elements(const clang::Expr& expr) { return guarded(expr, &Folder::elementsOf); }
  std::optional<PointerValue> pointer(const clang::Expr& expr) { return guarded(expr, &Folder::pointerOf); }
  std::optional<Formula> formula(const clang::Expr& expr) { return guarded(expr, &Folder::formulaOf); }
  std::optional<Formulas> axes(const clang::Expr& expr) { return guarded(expr, &Folder::axesOf); }
  /// Whether the condition holds, of what compares numbers.
  std::optional<Formula> truth(const clang::Expr& expr);
  std::optional<Formula> truth(const Guard& guard); ///< as it must
  /// What stands in that part of the text is asked as if it stood there.
  void askBehind(clang::SourceRange part, clang::SourceLocation place) { askedIn = part, askedAt = place; }
  /// The one variable that a condition holds against a number, and that number.
  std::optional<std::pair<const clang::VarDecl*, std::int64_t>> equalTo(const clang::Expr& variable,
                                                                        const clang::Expr& value);

  std::optional<Number> number(const Slot& slot, const clang::Expr& user) {
    return fieldAt(slot, user, &Folder::number);
  }
  std::optional<Extent> extent(const Slot& slot, const clang::Expr& user) { return extentAt(slot, user); }

private:
  template <typename Value> using Evaluate = std::optional<Value> (Folder::*)(const clang::Expr&);

  template <typename Value> std::optional<Value> guarded(const clang::Expr& expr, Evaluate<Value> evaluate);

  // host_folder.cpp: numbers and extents
  std::optional<Number> constantOf(const clang::Expr& expr) const;
  /// Whether it is a number of 64 bits that has no place in a Number.
  bool isBeyondNumbers(const clang::Expr& expr) const;
  std::optional<Number> numberOf(const clang::Expr& expr);
  std::optional<Number> ofReference(const clang::VarDecl& variable, const clang::Expr& user);
  std::optional<Number> convert(const clang::CastExpr& cast);
  std::optional<Number> unary(const clang::UnaryOperator& op);
  std::optional<Number> binary(const clang::BinaryOperator& op);
  std::optional<Number> ofCall(const clang::CallExpr& call);
  std::optional<Number> component(const clang::MemberExpr& member);
  std::optional<Number> element(const clang::ArraySubscriptExpr& element);
  std::optional<Extent> extentOf(const clang::Expr& expr);
  std::optional<Extent> constructed(const clang::CXXConstructExpr& made);
  std::optional<Extent> extentAt(const Slot& slot, const clang::Expr& user);

  // host_containers.cpp: how many elements a container has
  std::optional<Number> elementsOf(const clang::Expr& container);
  std::optional<Formula> elementsFormula(const clang::Expr& container);

  // host_formulas.cpp
  std::optional<Formula> formulaOf(const clang::Expr& expr);
  std::optional<Formula> formulaOfOperator(const clang::BinaryOperator& op);
  std::optional<Formula> leastPitch(const clang::VarDecl& variable, const VariableUses& own);
  std::optional<Formula> formulaOfVariable(const clang::VarDecl& variable, const clang::Expr& user);
  std::optional<Formula> formulaAt(const clang::VarDecl& variable, clang::SourceLocation place);
  template <typename Value>
  std::optional<Value> chosen(const clang::VarDecl& variable, const std::vector<Event>& events,
                              clang::SourceLocation place, Evaluate<Value> evaluate);
  template <typename Value>
  std::optional<Value> behind(const clang::VarDecl& variable, const std::vector<Event>& events,
                              const Branch& branch, Evaluate<Value> evaluate);
  const Event* lastInText(const std::vector<Event>& events, clang::SourceLocation place) const;
  std::vector<const void*> stateAt(const clang::VarDecl& variable, const std::vector<Event>& events,
                                   clang::SourceLocation place) const;
  std::optional<Formula> formulaOfMember(const clang::MemberExpr& member);
  bool isInOtherFunction(clang::SourceLocation place, const clang::FunctionDecl& function) const;
  Formula standsFor(const clang::ValueDecl& named, const Buffers::Places& calls,
                    const Buffers::Places& state);
  std::optional<std::int64_t> mostOf(const clang::VarDecl& variable, const VariableUses& own);
  std::optional<std::int64_t> steppedUp(const clang::Expr& change, std::int64_t from);
  std::optional<std::int64_t> limitIn(const clang::Expr& condition, const clang::VarDecl& variable);
  std::optional<Formula> returned(std::span<clang::Stmt* const> statements);
  std::optional<Formula> roundedUp(const clang::Expr& expr);
  std::optional<Formula> formulaOfCall(const clang::CallExpr& call);
  std::optional<Formula> compared(const clang::BinaryOperator& op);
  std::optional<Formulas> axesOf(const clang::Expr& expr);
  std::optional<Formulas> axesAt(const Slot& slot, const clang::Expr& user);

  // host_pointers.cpp
  std::optional<PointerValue> pointerOf(const clang::Expr& expr);
  std::optional<PointerValue> placeOf(const clang::Expr& lvalue);
  std::optional<PointerValue> moved(const clang::BinaryOperator& op);
  std::optional<PointerValue> shifted(const clang::Expr& base, const clang::Expr& index,
                                      clang::QualType element, int sign);
  std::size_t buffer(const clang::CallExpr& call);
  std::optional<Formula> bytesOf(const clang::CallExpr& call);
  std::optional<Formula> pitchOf(const clang::CallExpr& call);
  friend class HostValues;

  // host_lookup.cpp: variables, fields, parameters, calls
  struct Latest {
    bool known = false;
    const Event* event = nullptr; ///< null: none yet, so the initial value counts
  };
  Latest lastBefore(const std::vector<Event>& events, const clang::VarDecl& variable,
                    clang::SourceLocation user, bool hasStart, clang::SourceLocation start = {}) const;
  bool isNull(const clang::Expr& expr) const;
  /// What two callers agree about.
  static std::optional<Number> shared(const Number& a, const Number& b) {
    return a == b ? std::optional(a) : std::nullopt;
  }
  static std::optional<Extent> shared(const Extent& a, const Extent& b) {
    auto axis = [](const auto& left, const auto& right) { return left == right ? left : std::nullopt; };
    return Extent{axis(a.x, b.x), axis(a.y, b.y), axis(a.z, b.z)};
  }
  static std::optional<Formulas> shared(const Formulas&, const Formulas&) { return std::nullopt; }
  static std::optional<PointerValue> shared(const PointerValue& a, const PointerValue& b) {
    const bool same = a.allocation == b.allocation && a.byteOffset == b.byteOffset;
    return same ? std::optional(a) : std::nullopt;
  }
  bool isFollowed(const clang::VarDecl& variable) const;
  template <typename Value>
  std::optional<Value> throughVariable(const clang::VarDecl& variable, const clang::Expr& user,
                                       Evaluate<Value> evaluate);
  template <typename Value>
  std::optional<Value> throughReference(const clang::Expr* init, const clang::Expr& user,
                                        Evaluate<Value> evaluate);
  template <typename Value>
  std::optional<Value> atPlace(const clang::VarDecl& variable, clang::SourceLocation place,
                               Evaluate<Value> evaluate);
  template <typename Value>
  std::optional<Value> ofInit(const clang::VarDecl& variable, const clang::Expr& init,
                              Evaluate<Value> evaluate);
  std::optional<PointerValue> exchanged(const clang::VarDecl& variable, const clang::Expr& user);
  template <typename Value> std::optional<Value> through(const Event& event, Evaluate<Value> evaluate);
  // host_rounds.cpp
  bool isInSameRound(clang::SourceRange region, clang::SourceLocation event,
                     clang::SourceLocation user) const;
  bool livesAsLong(const clang::VarDecl& variable) const;
  bool isPassed(const Event& event, clang::SourceLocation user) const;
  bool mayComeBetween(const Event& event, clang::SourceLocation since, clang::SourceLocation user) const;
  bool isSettled(const clang::VarDecl& variable, clang::SourceLocation here) const;
  std::vector<const void*> callsTo(const clang::VarDecl& variable) const;
  ScopePointer scopeOfSome(const clang::VarDecl& variable) const;
  /// The value that an event gives to a variable, or to a field of one, in a round or call that need not be
  /// that of the place that asks.
  template <typename Ask> auto ofSomeRound(const clang::VarDecl& variable, const Ask& ask) {
    ScopePointer inner = scopeOfSome(variable);
    std::swap(scope, inner);
    holders.push_back(&variable);
    auto value = ask();
    holders.pop_back();
    std::swap(scope, inner);
    return value;
  }
  template <typename Value>
  std::optional<Value> through(const Event& event, const clang::VarDecl& variable, clang::SourceLocation user,
                               Evaluate<Value> evaluate) {
    if (isInSameRound(event.region, event.where, user)) return through(event, evaluate);
    return ofSomeRound(variable, [&] { return through(event, evaluate); });
  }
  template <typename Value>
  std::optional<Value> fieldAt(const Slot& slot, const clang::Expr& user, Evaluate<Value> evaluate);
  template <typename Value>
  std::optional<Value> fieldOf(const clang::Expr& structure, std::span<const clang::FieldDecl* const> path,
                               Evaluate<Value> evaluate);
  template <typename Value>
  std::optional<Value> fieldOfObject(const clang::FieldDecl& field, Evaluate<Value> evaluate);
  template <typename Value>
  std::optional<Value> madeField(const clang::VarDecl& variable, const clang::FieldDecl& field,
                                 clang::SourceLocation user, Evaluate<Value> evaluate);
  template <typename Value>
  std::optional<Value> agreed(const clang::ParmVarDecl& parameter, Evaluate<Value> evaluate);
  template <typename Value>
  std::optional<Value> throughHelper(const clang::CallExpr& call, Evaluate<Value> evaluate);
  template <typename Value>
  std::optional<Value> within(ScopePointer inner, const clang::Expr& expr, Evaluate<Value> evaluate);
  std::optional<ScopePointer> enter(const clang::CallExpr& call) const;
  std::optional<ScopePointer> enter(const clang::CXXConstructExpr& made, const void* entry) const;

  const HostValues& values;
  const clang::ASTContext& ast;
  ScopePointer scope;
  unsigned depth = 0, choices = 0;
  clang::SourceRange askedIn; ///< as of askBehind
  clang::SourceLocation askedAt;
  std::vector<const clang::VarDecl*> holders; ///< of what was given to them in some round; null: fields
};

} // namespace kcheck::frontend
