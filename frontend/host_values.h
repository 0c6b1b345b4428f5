// What host variables hold, as far as the source fixes it for every run: integers, dim3 values, and pointers
// into buffers. Nothing here guesses: a variable that could hold something else has no value.
#pragma once

#include "frontend/host_uses.h"

#include <memory>
#include <span>

namespace clang {
class ForStmt;
class ParmVarDecl;
} // namespace clang

namespace kcheck::frontend {

struct Scope;
/// Which call of a function is meant, which pass of the loops around, and which branches: what parameters and
/// loop counters are, and variables that a branch compares with a number. Null: any.
using ScopePointer = std::shared_ptr<const Scope>;

struct Scope {
  std::map<const clang::ParmVarDecl*, const clang::Expr*> arguments; ///< to be evaluated in `outer`
  std::map<const clang::VarDecl*, std::int64_t> counters; ///< and, of a branch, what it has compared
  const clang::Expr* object = nullptr;                    ///< of a method's call: what `this` points to
  const clang::FunctionDecl* function = nullptr; ///< canonical: that was entered; null for a pass of a loop
  const clang::Stmt* loop = nullptr;             ///< whose pass it is; of a branch there is neither
  bool isExchanged = false;    ///< in this pass the loop's two pointers (HostUses::exchanges) are
  const void* entry = nullptr; ///< the call or constructed variable: tells buffers of calls apart
  ScopePointer outer;
};

/// A pointer into a buffer.
struct PointerValue {
  std::size_t allocation = 0;
  std::optional<std::int64_t> byteOffset;
};

/// The buffers that host code makes, found as pointers lead to them. A buffer is an allocation call together
/// with the calls that lead to it.
class Buffers {
public:
  using Key = std::vector<std::pair<const void*, std::int64_t>>;
  explicit Buffers(std::vector<Allocation>& all) : all(all) {}
  /// The buffer of `key`, made from `fresh` when new.
  template <typename Make> std::size_t find(const Key& key, Make fresh) {
    const auto [entry, isNew] = known.try_emplace(key, all.size());
    if (isNew) all.push_back(fresh());
    return entry->second;
  }

  Allocation& at(std::size_t number) { return all[number]; }

  using Places = std::vector<const void*>;
  /// A number for a variable in formulas, as it is in one call of its function, to which `calls` lead, and in
  /// one state there: what has given it its value.
  unsigned numberOf(const clang::Decl* variable, const Places& calls, const Places& state) {
    const unsigned family = families.try_emplace({variable, calls}, unsigned(families.size())).first->second;
    const auto [entry, isNew] = variables.try_emplace({family, state}, unsigned(familyOfNumber.size()));
    if (isNew) familyOfNumber.push_back(family);
    return entry->second;
  }
  /// The same for all states of one variable.
  unsigned familyOf(unsigned number) const { return familyOfNumber[number]; }

private:
  std::map<std::pair<const clang::Decl*, Places>, unsigned> families;
  std::map<std::pair<unsigned, Places>, unsigned> variables;
  std::vector<unsigned> familyOfNumber;
  std::vector<Allocation>& all;
  std::map<Key, std::size_t> known;
};

class HostValues {
public:
  HostValues(const clang::ASTContext& ast, const HostUses& uses, Buffers& buffers)
      : ast(ast), uses(uses), buffers(buffers) {}

  std::optional<std::int64_t> integer(const clang::Expr& expr, const ScopePointer& scope = nullptr) const;
  Extent extent(const clang::Expr& expr, const ScopePointer& scope = nullptr) const;
  std::optional<PointerValue> pointer(const clang::Expr& expr, const ScopePointer& scope = nullptr) const;
  /// Between which bounds, and in which steps, an integer lies that follows counters of loops around.
  std::optional<PassedValue::Range> range(const clang::Expr& expr, const ScopePointer& scope = nullptr) const;
  /// What does not fold, in terms of variables of one value each; none when it is not of that kind.
  std::optional<Formula> formula(const clang::Expr& expr, const ScopePointer& scope = nullptr) const;
  /// That a condition on the way holds, in the same terms.
  std::optional<Formula> truth(const Guard& guard, const ScopePointer& scope) const;
  std::array<std::optional<Formula>, 3> extentFormulas(const clang::Expr& extent,
                                                       const ScopePointer& scope = nullptr) const;
  /// A field of a structure, `config.gridDim`, as it is where `user` stands.
  Extent extentField(const Slot& slot, const clang::Expr& user, const ScopePointer& scope) const;
  std::array<std::optional<Formula>, 3> fieldFormulas(const Slot& slot, const clang::Expr& user,
                                                      const ScopePointer& scope) const;
  std::optional<std::int64_t> integerField(const Slot& slot, const clang::Expr& user,
                                           const ScopePointer& scope) const;
  /// A member of a structure that an expression makes.
  std::optional<PointerValue> pointerMember(const clang::Expr& structure,
                                            std::span<const clang::FieldDecl* const> path,
                                            const ScopePointer& scope) const;
  std::optional<std::int64_t> integerMember(const clang::Expr& structure,
                                            std::span<const clang::FieldDecl* const> path,
                                            const ScopePointer& scope) const;
  /// The buffer of an allocation call.
  std::size_t buffer(const clang::CallExpr& call, const ScopePointer& scope = nullptr) const;

  /// The scope of a called function's or constructor's body; none where the call is not followed.
  std::optional<ScopePointer> entered(const clang::Expr& call, const ScopePointer& scope) const;

  /// The one expression that gives a variable its value; null when there is none, or several.
  const clang::Expr* definition(const clang::VarDecl& variable) const;

  /// Every way to come to a call: through the calls of its function and the passes of the loops around, where
  /// all of them are known and few. Ways that a branch around excludes are left out. None when not known.
  std::optional<std::vector<ScopePointer>> scopesAt(const clang::CallExpr& call) const;
  /// The same through the calls in sight of functions that are handed a function, also where there may be
  /// others.
  std::optional<std::vector<ScopePointer>> scopesInSightOf(const clang::CallExpr& call) const;

private:
  friend class Folder;
  std::vector<const clang::Expr*> argumentsFor(const clang::ParmVarDecl& parameter) const;
  bool callsAreKnown(const clang::FunctionDecl& function) const;
  bool isUnchanged(const clang::ParmVarDecl& parameter) const;
  /// The counter of a loop that nothing but the loop's own update changes; null where there is none.
  const clang::VarDecl* soleCounter(const clang::ForStmt& loop) const;
  bool hasOtherUses(const clang::VarDecl& variable, unsigned depth = 4) const;
  bool isOwn(const clang::VarDecl& variable) const;
  struct Search {
    unsigned depth = 0;
    bool inSight = false; ///< as of scopesInSightOf
  };
  std::vector<ScopePointer> waysTo(const clang::FunctionDecl* function, Search search) const;
  std::vector<ScopePointer> waysAt(const clang::CallExpr& call, Search search) const;
  bool isOfThisCall(const clang::CallExpr& call) const;
  bool isExcluded(const Around& around, const ScopePointer& scope) const;
  /// What the branches around say of single variables, one scope for each case that is open.
  std::vector<ScopePointer> inBranches(const Around& around, std::vector<ScopePointer> ways) const;
  std::optional<PassedValue::Range> rangeOf(const clang::Expr& expr, const ScopePointer& scope,
                                            unsigned depth) const;
  std::optional<PassedValue::Range> rangeOf(const clang::VarDecl& variable, const ScopePointer& scope,
                                            unsigned depth) const;
  std::optional<PassedValue::Range> rangeOf(const clang::ForStmt& loop, const ScopePointer& scope,
                                            unsigned depth) const;
  std::optional<std::vector<std::int64_t>> passes(const clang::Stmt& loop, const ScopePointer& scope) const;

  const clang::ASTContext& ast;
  const HostUses& uses;
  Buffers& buffers;
};

} // namespace kcheck::frontend
