// The expressions in which kernels are modelled: a hash-consed DAG of bit-vector operations over thread and
// block indices, launch dimensions, parameters, loop counters and unknowns. Two equal expressions are one
// node, so equality is pointer equality. Nodes live as long as their ExprContext. Construction simplifies; no
// LLVM, no z3 here.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace kcheck::analyzer {

using Int = __int128; ///< wide enough for any intermediate of 64-bit index arithmetic

enum class Op : std::uint8_t {
  Const,
  Symbol,
  Apply, // leaves, and an uninterpreted function of its operands
  Add,
  Mul,
  UDiv, // by zero: all ones; SDiv by zero: 1 for a negative dividend, else -1
  SDiv,
  URem, // by zero: the dividend; the result of SRem has the dividend's sign
  SRem,
  Shl, // shifting by the width or more gives 0 (AShr: the sign)
  LShr,
  AShr,
  And,
  Or,
  Xor,
  ZExt,
  SExt,
  Trunc,
  Eq,
  Ult,
  Ule,
  Slt,
  Sle, // width 1
  Ite,
};
const char* toString(Op op);

enum class SymbolKind : std::uint8_t {
  ThreadIdx,
  BlockIdx,
  BlockDim,
  GridDim,
  Parameter,
  LoopCounter,
  Unknown,
  Object
};

/// What kind of approximation a value is.
enum class CauseKind : std::uint8_t {
  Approximation, ///< a loop without closed form, an instruction that is not interpreted
  Loop,          ///< what a loop makes of a value, without closed form: perhaps it never comes to that
  Content,       ///< memory that the kernel itself computes
  AnyInput,      ///< what the host computes from its input: any value may come
  Launch,        ///< an argument, or what the host has put into memory, that the launch does not show
  Warp,          ///< a shuffle, a vote, a mask of lanes: made to give threads different work
  Wait,          ///< a flag or lock that a loop waits for: orders threads, given fences
  Lock,          ///< whether a lock was free: orders what is done under it, and nothing else
  Order,         ///< an atomic operation, a flag, a barrier of some: may order the threads
};

struct Cause {
  CauseKind kind = CauseKind::Approximation;
  std::string text; ///< a part of a sentence, with the line
  friend auto operator<=>(const Cause&, const Cause&) = default;
};

/// Between which two threads the value of a symbol or function may differ. `Thread` implies it differs
/// between blocks as well.
enum class Varies : std::uint8_t { Never, ByBlock, ByThread };

/// A free variable. `lo`..`hi` is what is known of its value, read as a signed number of `width` bits
/// (as unsigned where lo >= 0 and hi >= 2^(width-1)).
struct Symbol {
  std::string name; ///< as a user would call it: `threadIdx.x`, `n`, `i (line 12)`
  unsigned id = 0;
  unsigned width = 32;
  SymbolKind kind = SymbolKind::Unknown;
  unsigned axis = 0; ///< 0..2 for the index and dimension kinds
  Int lo = 0, hi = 0;
  Varies varies = Varies::Never;
  bool exact = true; ///< false: an approximation stands behind it; `cause` says which and at what line
  /// Of a loop counter: not one that goes round, but how often in the end. The conditions in which it stands
  /// leave it one value.
  bool isOutcome = false;
  bool isLength = false; ///< of an unknown: stands for a sum of sizes, small where these are
  bool isKept = false;   ///< of a loop: follows memory that is taken to stay as it is (Function::isKept)
  Cause cause;
};

/// What memory that nobody changes holds at each multiple of `step` from 0 on.
struct Table {
  std::vector<std::int64_t> entries;
  std::int64_t step = 1, least = 0, most = 0;

  Table() = default;
  Table(std::vector<std::int64_t> entries, std::int64_t step);
  bool empty() const { return entries.empty(); }
  std::optional<std::int64_t> at(std::int64_t place) const;
};

/// An uninterpreted function: the content of an array that the kernel only reads, or a value that is known to
/// be the same whenever its operands are.
struct Function {
  std::string name;
  unsigned id = 0;
  unsigned width = 32;
  Varies varies = Varies::Never; ///< Never: one function for all threads; ByThread: each thread has its own
  bool injective = false;        ///< different operands give different values (tickets, permutations),
  unsigned keys = 0;             ///< where so many operands at the front are the same
  bool ascends = false; ///< with equal keys, of a last operand that is not less, a value that is not less
  /// The first of as many numbers as the last operand says; those of different operands have none in common.
  bool isRoom = false;
  Table table;
  bool isBallot = false; ///< how the lanes of a warp vote
  bool isLeader = false; ///< the first lane that votes
  /// The content of memory that the kernel writes, taken to stay as it is for a while: it does where no
  /// threads race.
  bool isKept = false;
  bool exact = true;
  Cause cause;
};

enum Flag : std::uint8_t { NoFlags = 0, NoSignedWrap = 1, NoUnsignedWrap = 2 };

struct Node {
  Op op;
  std::uint8_t flags;  ///< of Add, Mul, Shl, Trunc: the program has undefined behaviour when it wraps. The
                       ///< value is the wrapped one all the same. Of a sum with an operand `x * -1` that
                       ///< carries the flag, the flag speaks of the mathematical a - x
  std::uint16_t width; ///< in bits, 1..64
  unsigned id;         ///< creation order; stable within one run
  std::int64_t value;  ///< of Const, sign-extended from width (width 1: 0 or 1)
  const Symbol* symbol;
  const Function* function;
  std::vector<const Node*> operands;
};
using Expr = const Node*;

/// Owns symbols, functions and nodes. Not thread-safe; one per kernel.
class ExprContext {
public:
  ExprContext();
  ~ExprContext();
  ExprContext(const ExprContext&) = delete;
  ExprContext& operator=(const ExprContext&) = delete;

  /// The symbol of this name, made by `make` when it is new.
  Symbol* symbol(const std::string& name, unsigned width, SymbolKind kind, Int lo, Int hi);
  /// A symbol over the full signed range of its width.
  Symbol* symbol(const std::string& name, unsigned width, SymbolKind kind);
  Function* function(const std::string& name, unsigned width);

  Expr constant(unsigned width, std::int64_t value);
  Expr boolean(bool value) { return constant(1, value); }
  Expr of(const Symbol* symbol);
  Expr apply(const Function* function, std::vector<Expr> operands);
  Expr binary(Op op, Expr left, Expr right, std::uint8_t flags = NoFlags);
  Expr extend(Op op, unsigned width, Expr operand, std::uint8_t flags = NoFlags); ///< ZExt, SExt, Trunc
  Expr ite(Expr condition, Expr then, Expr otherwise);
  /// The operation of `like` (flags included) on other operands of the same widths, simplified.
  Expr rebuild(Expr like, std::vector<Expr> operands);

  Expr add(Expr a, Expr b, std::uint8_t flags = NoFlags) { return binary(Op::Add, a, b, flags); }
  Expr sub(Expr a, Expr b, std::uint8_t flags = NoFlags);
  Expr mul(Expr a, Expr b, std::uint8_t flags = NoFlags) { return binary(Op::Mul, a, b, flags); }
  Expr eq(Expr a, Expr b) { return binary(Op::Eq, a, b); }
  Expr logicalNot(Expr a) { return binary(Op::Xor, a, boolean(true)); }
  Expr logicalAnd(Expr a, Expr b) { return binary(Op::And, a, b); }
  Expr logicalOr(Expr a, Expr b) { return binary(Op::Or, a, b); }

  std::size_t size() const;
  /// Every symbol and function made so far, in order of creation.
  const std::deque<Symbol>& symbols() const;
  const std::deque<Function>& functions() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

bool isConst(Expr e, std::int64_t value);
inline bool isConst(Expr e) { return e->op == Op::Const; }
inline bool isTrue(Expr e) { return e->width == 1 && e->op == Op::Const && e->value == 1; }
inline bool isFalse(Expr e) { return e->width == 1 && e->op == Op::Const && e->value == 0; }
/// The thread's or the block's along some axis.
inline bool isIndex(Expr e) {
  return e->op == Op::Symbol &&
         (e->symbol->kind == SymbolKind::ThreadIdx || e->symbol->kind == SymbolKind::BlockIdx);
}
std::int64_t signExtend(std::int64_t value, unsigned width);
std::uint64_t zeroExtend(std::int64_t value, unsigned width);

/// `value` as its low `width` bits are stored in a constant: 0 or 1 for width 1, else sign-extended.
std::int64_t normalize(std::int64_t value, unsigned width);
/// The conjuncts of a condition: itself unless it is a conjunction.
std::vector<Expr> conjunctsOf(Expr condition);
/// Visits `root` and everything below it once each, operands before users. No recursion, so depth is no
/// matter. Nodes for which `known` is true are not entered.
void bottomUp(Expr root, const std::function<bool(Expr)>& known, const std::function<void(Expr)>& visit);

/// Replaces nodes by nodes, bottom-up and memoised; results are simplified again.
class Substitution {
public:
  explicit Substitution(ExprContext& context) : context(&context) {}
  void set(Expr from, Expr to) {
    map[from] = to;
    memo.clear();
  }
  bool empty() const { return map.empty(); }
  Expr operator()(Expr e);

private:
  ExprContext* context;
  std::unordered_map<Expr, Expr> map, memo;
};

/// Calls `visit` once for every node below and including `e`; stops and returns true when it returns true.
bool anyNode(Expr e, const std::function<bool(Expr)>& visit);
/// Whether `e`, if there is one, follows memory that is taken to stay as it is (Function::isKept).
bool followsKept(Expr e);
/// Whether the value of `e` can differ between two threads: of a block (Never or ByThread), or of different
/// blocks.
Varies variesOf(Expr e);
/// The inexact symbols and functions below `e`.
std::vector<Cause> causesOf(Expr e);
/// Whether it hangs on nothing but the thread's and the block's indices, the launch's shape and rounds of
/// loops.
bool isOfIndices(Expr e);
/// Human-readable infix text, for dumps and messages. Depth-limited: deeper parts print as `..`.
std::string toString(Expr e, unsigned depth = 12);

} // namespace kcheck::analyzer
