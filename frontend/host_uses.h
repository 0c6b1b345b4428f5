// First walk over host code: what can change each variable and each field, who calls each function from
// where, and which branches and loops stand around a call. Everything later asks these tables and never the
// tree.
#pragma once

#include "report/program.h"

#include <clang/Basic/SourceLocation.h>

#include <map>
#include <set>

namespace clang {
class ASTContext;
class CallExpr;
class CXXRecordDecl;
class CompoundStmt;
class Decl;
class Expr;
class FieldDecl;
class FunctionDecl;
class Stmt;
class ValueDecl;
class VarDecl;
} // namespace clang

namespace kcheck::frontend {

/// A variable, or a field of one: `grid`, `grid.x`, `buffers.in.data`.
struct Slot {
  const clang::VarDecl* root = nullptr; ///< canonical
  std::vector<const clang::FieldDecl*> path;
  friend auto operator<=>(const Slot&, const Slot&) = default;
};

/// A condition on the way to a call, and what it must be: true or false, or, of a switch, one of its cases,
/// or none of them.
struct Guard {
  const clang::Expr* condition = nullptr;
  bool must = true;
  std::vector<const clang::Expr*> cases; ///< empty: no switch
  /// The call of a helper that asks it of what it is given, and ends the program where it is not so; or the
  /// constructor of an object.
  const clang::Expr* within = nullptr;
  /// Where it was asked for the last time, if not where it stands: behind its loop.
  clang::SourceLocation at = {};
};

/// A part of an `if` or `switch`, and what holds in there.
struct Branch {
  Guard guard;
  clang::SourceRange part, outside; ///< regions, as of Around
};

/// Something that gives a slot a value: an assignment, an allocation call that gets its address, or what
/// gives it one that is not known (`n *= 2`, `scanf("%d", &n)`: neither value nor allocation).
struct Event {
  const clang::Expr* value = nullptr;
  const clang::CallExpr* allocation = nullptr; ///< also that of a pitch
  /// The block that it is a statement of; null where a branch, a loop or an expression stands between.
  const clang::CompoundStmt* in = nullptr;
  clang::SourceLocation where;
  const clang::FunctionDecl* function = nullptr; ///< canonical
  clang::SourceRange region = {};                ///< as of Around
  std::vector<clang::SourceRange> rounds = {};   ///< as of Around
  std::vector<Branch> branches = {};             ///< around, outermost first
  const clang::Expr* change = nullptr;           ///< `n *= 2`, where that is what it does
  const clang::Expr* again = nullptr; ///< the condition of the innermost loop, asked before each round
  bool isOfEachCall = false;          ///< of the function
};

/// Two pointers that each pass of a `for` exchanges in a statement of its body, or in three.
struct Exchange {
  const clang::VarDecl *first = nullptr, *second = nullptr; ///< canonical
  clang::SourceLocation where;
  bool isSkipped = false; ///< by a `continue`
};

struct VariableUses {
  std::vector<Event> events;
  unsigned others = 0;                             ///< anything else that could change it
  std::vector<const clang::VarDecl*> passedTo;     ///< parameters that are references to it
  const clang::CompoundStmt* declaredIn = nullptr; ///< the block that declares it, as a statement of its own
  const clang::Stmt* loop = nullptr;               ///< the `for` that counts with it, and alone changes it
  const clang::Stmt* exchangedIn = nullptr;        ///< the loop that exchanges it with another pointer
  bool isListed = false;                           ///< of a `for` over a list: the list is the loop's range
};

/// What happens to a field through any object.
struct FieldUses {
  std::vector<Event> ofThis; ///< through `this`
  unsigned others = 0;       ///< through pointers and references, or in ways not followed
};

/// What stands around a call within its function, outermost first.
struct Around {
  const clang::FunctionDecl* function = nullptr; ///< canonical; null at file scope
  std::vector<const clang::Stmt*> loops;         ///< that count
  std::vector<clang::SourceRange> rounds;        ///< all loops
  const clang::Expr* again =
      nullptr; ///< the condition of the innermost, where that is asked before each round
  std::vector<Guard> guards;
  /// The innermost part of the text of which it is open whether, or how often, it is come to: a branch, a
  /// loop, a function's body. Whoever is in there and further down comes after it, in the same round.
  clang::SourceRange region;
  std::vector<Branch> branches;
  bool mayHaveReturned = false; ///< the function, further up
};

struct FunctionUses {
  std::vector<const clang::CallExpr*> calls;
  bool escapes = false; ///< its address is taken, so that calls may be hidden
};

/// Gathered over a whole translation unit.
struct HostUses {
  std::map<const clang::VarDecl*, VariableUses> variables;
  std::map<Slot, std::vector<Event>> fields; ///< of variables, with a path that is not empty
  std::map<const clang::FieldDecl*, FieldUses> fieldUses;
  std::map<const clang::FunctionDecl*, FunctionUses> functions;
  std::map<const clang::CallExpr*, Around> around;
  std::map<const clang::Stmt*, Exchange> exchanges; ///< by loop
  std::map<const clang::Stmt*, const clang::CompoundStmt*>
      homes;                               ///< of loops: the block they are statements of
  std::vector<clang::SourceRange> lambdas; ///< their bodies
  std::set<std::string> askedForRemainder; ///< names of variables: `n % 32`, `n & 31`
  std::set<std::pair<const clang::VarDecl*, const clang::VarDecl*>> swaps; ///< of pointers, anywhere
  std::set<const clang::Expr*> inSwaps; ///< values of assignments that such exchanges are made of
  std::set<const clang::CXXRecordDecl*>
      handedOn; ///< canonical; of lambdas and others that code out of sight may call
  bool hasLabels = false;
  bool wholeProgram = false; ///< no other file can call this file's functions
};

/// Walks the translation unit.
HostUses gatherUses(const clang::ASTContext& ast, bool wholeProgram);

/// The index of the argument through which a call returns a new buffer, and of that which has its size in
/// bytes. Of the CUDA API, or of a helper function that hands its own argument to it.
struct AllocationCall {
  unsigned pointer = 0;
  std::optional<unsigned> size;              ///< of a call of the CUDA API
  const clang::CallExpr* inHelper = nullptr; ///< the call that the helper makes
};
std::optional<AllocationCall> allocationCall(const clang::CallExpr& call);

/// Whether a reference is made to a value that has no other name.
bool isTemporary(const clang::Expr& init);
/// The slot that an lvalue names; none for elements, and for what pointers and references lead to.
std::optional<Slot> slotOf(const clang::Expr& lvalue);
/// The same, for readers: parameters that are references count as variables.
std::optional<Slot> readSlotOf(const clang::Expr& lvalue);
/// The slot in `&variable.field`, casts stripped.
std::optional<Slot> addressedSlot(const clang::Expr& expr);
/// The field in `field` or `this->field` of a method.
const clang::FieldDecl* fieldOfThis(const clang::Expr& lvalue);
/// What `std::forward` and `std::move` are given; any other expression itself, without parentheses.
const clang::Expr& handedOn(const clang::Expr& expr);
/// A structure's expression without what only copies or converts it.
const clang::Expr& copiedFrom(const clang::Expr& expr);
/// `E` where the function's only return statement is `return E;`.
const clang::Expr* onlyReturn(const clang::FunctionDecl& function);
/// Whether there is a return statement in there, of the function itself.
bool hasReturn(const clang::Stmt& statement);
/// Whether the function is called by name: kernels launched by API calls, `cudaMalloc`.
bool isNamed(const clang::CallExpr& call, llvm::StringRef name);

} // namespace kcheck::frontend
