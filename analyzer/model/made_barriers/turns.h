// Numbers that a thread carries from one barrier of its own making to the next: a goal that grows, a sense
// that turns.
#pragma once

#include "analyzer/model/made_barriers/sums.h"

#include <functional>
#include <optional>

namespace llvm {
class BasicBlock;
class Function;
} // namespace llvm

namespace kcheck::analyzer {

/// One place where threads meet: the blocks that begin with the barriers before and behind it.
struct Turn {
  const llvm::BasicBlock *from = nullptr, *to = nullptr;
  const llvm::BasicBlock* used = nullptr; ///< where the number is looked at
  Sum number;
};

class Turns {
public:
  /// All places at which what these have in common is met.
  Turns(const llvm::Function& kernel, Sums& sums, std::vector<Turn> all)
      : kernel(kernel), sums(sums), all(std::move(all)) {}

  /// Whether the number is `first` where a thread comes to such a place for the first time, and each later
  /// time what `follows` says of the time before, on every way.
  bool go(const Sum& first, const std::function<bool(const Sum& before, const Sum& now)>& follows);

private:
  using Block = const llvm::BasicBlock*;
  using Results = std::optional<std::vector<Sum>>;
  struct Way {
    Block start = nullptr; ///< null: the kernel's entry
    const Turn* end = nullptr;
  };
  bool reaches(const Way& way, Block to, Block avoiding = nullptr) const;
  bool leads(const Way& way, Block from, Block to) const;
  Results atEnd(const Way& way, const Sum& sum, Block used);
  Results atomAtEnd(const Way& way, const llvm::Value& atom, Block used);

  const llvm::Function& kernel;
  Sums& sums;
  std::vector<Turn> all;
  std::set<const llvm::Value*> active;
};

} // namespace kcheck::analyzer
