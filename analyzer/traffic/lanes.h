// Evaluates expressions for the 32 lanes of a warp at once. What depends on the block, the thread or a loop
// counter is computed again only when that changes.
#pragma once

#include "analyzer/kernel_model.h"

#include <algorithm>
#include <array>

namespace kcheck::analyzer {

class LaneProgram {
public:
  static constexpr unsigned kLanes = 32;
  using Row = std::array<std::int64_t, kLanes>;

  /// `model` has a launch of constant extents.
  LaneProgram(const KernelModel& model, const std::vector<Expr>& roots);

  /// Why the values are not known from indices and counters alone; empty when they are.
  const std::string& unknown() const { return why; }
  const std::vector<const Symbol*>& counters() const { return loopCounters; }
  template <typename Less> void sortCounters(Less less) {
    std::sort(loopCounters.begin(), loopCounters.end(), less);
  }
  std::size_t size() const { return nodes.size(); } ///< what one evaluation costs, about

  void setBlock(const Dim3& block);
  /// Lanes past the block's last thread get thread 0; `lanes()` says how many count.
  void setWarp(unsigned warp);
  unsigned lanes() const { return activeLanes; }
  void setCounters(const std::vector<std::int64_t>& values);
  const Row& values(unsigned root) const { return rows[rootNodes[root]]; }

private:
  enum Level : std::uint8_t { Fixed, Block, Thread, Counter };
  struct Step {
    Expr node;
    Level level;
    bool byThread;
    std::array<unsigned, 3> operands;
  };
  void run(Level level);
  void compute(const Step& step, Row& out) const;

  Dim3 blockDim;
  std::vector<Step> nodes;
  std::vector<Row> rows;
  std::vector<unsigned> rootNodes;
  std::vector<std::vector<unsigned>> byLevel{4};
  std::vector<const Symbol*> loopCounters;
  std::map<const Symbol*, unsigned> symbolNode;
  std::string why;
  unsigned activeLanes = 0;
};

} // namespace kcheck::analyzer
