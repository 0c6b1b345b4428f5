// Which phases of barriers are over before which phases of others.
#pragma once

#include "analyzer/model/phased/rings.h"

namespace kcheck::analyzer {

/// How many phases lie between; nothing: any number may.
using Distance = std::optional<std::int64_t>;
using Distances = std::vector<std::vector<Distance>>;

class PhaseDistances {
public:
  PhaseDistances(const Ways& ways, const llvm::DominatorTree& dominators, const std::vector<Ring>& rings)
      : ways(ways), dominators(dominators), rings(rings) {}

  /// Phase n of one ring is over before phase n + distance of another, by way of others too; of rings that
  /// there is nothing against.
  Distances all() const;
  /// Whether a thread that arrives there knows the phase over for which it has arrived last at the same
  /// barrier.
  bool isBehindLast(std::size_t ring, const Ring::Group& own, const llvm::Instruction& arrival,
                    const Distances& between) const;

private:
  Distance lag(const Ring::Group& own, const llvm::Instruction& arrival, const Ring& ring) const;
  bool allCome(const PhasedWait& wait, const Ring& ring, const Ring::Group& own) const;
  static std::vector<Ring::Group> parted(const Ring::Group& group, const Ring& by);
  Distance lagBehindLoop(const Count& count, const PhasedWait& wait, const llvm::Loop& loop) const;
  Distance between(const Ring& first, const Ring& then) const;

  const Ways& ways;
  const llvm::DominatorTree& dominators;
  const std::vector<Ring>& rings;
};

} // namespace kcheck::analyzer
