// A barrier with phases, or a ring of such, on its way to a PhasedBarrier.
#pragma once

#include "analyzer/model/phased/operations.h"
#include "analyzer/model/phased/phased_barriers.h"

namespace kcheck::analyzer {

struct Ring {
  std::vector<const PhasedOperation*> arrivals, waits;
  std::vector<PhasedName> order; ///< at which one phase 0, 1, .. is
  PhasedBarrier made;
  std::string doubt;
  bool isNamed = false;
  std::vector<std::vector<bool>> comers; ///< of each arrival
  /// Arrivals, and all threads that come to just these; no threads where the block's shape is not known.
  struct Group {
    std::vector<const llvm::Instruction*> arrivals;
    std::vector<bool> threads;
  };
  std::vector<Group> groups;
};

} // namespace kcheck::analyzer
