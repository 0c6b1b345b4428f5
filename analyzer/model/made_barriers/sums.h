// Integers of a kernel as sums of products of what it does not compute by arithmetic: phis, parameters, the
// dimensions of the grid, what it finds in memory. Wraps are not looked at: who uses this has it that the
// numbers stay small.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace llvm {
class Value;
} // namespace llvm

namespace kcheck::analyzer {

struct KernelState;

/// An atom is an llvm::Value, or the expression of a dimension.
using SumAtom = const void*;

class Sum {
public:
  Sum() = default;
  explicit Sum(std::int64_t constant) { add({}, constant); }
  static Sum of(SumAtom atom) {
    Sum result;
    result.add({atom}, 1);
    return result;
  }

  Sum plus(const Sum& other, std::int64_t factor = 1) const;
  Sum times(const Sum& other) const;
  bool isZero() const { return terms.empty(); }
  bool isConstant() const { return terms.empty() || (terms.size() == 1 && terms.begin()->first.empty()); }
  std::int64_t constant() const;
  /// The atom where it stands alone, or taken from 1.
  SumAtom onlyAtom() const;

  std::map<std::vector<SumAtom>, std::int64_t> terms; ///< none is 0
  std::set<SumAtom> inverted; ///< atoms that `!` was applied to: it holds where they are 0 or 1

private:
  void add(std::vector<SumAtom> product, std::int64_t factor);
};

inline bool operator==(const Sum& a, const Sum& b) { return a.plus(b, -1).isZero(); }

class Sums {
public:
  explicit Sums(KernelState& state) : state(state) {}
  /// As it is where `value` can be used.
  Sum of(const llvm::Value* value);
  Sum blocks();                     ///< how many the grid has
  bool isValue(SumAtom atom) const; ///< and no dimension

private:
  Sum compute(const llvm::Value* value);
  Sum inverse(const llvm::Value* value, const llvm::Value* of);
  KernelState& state;
};

} // namespace kcheck::analyzer
