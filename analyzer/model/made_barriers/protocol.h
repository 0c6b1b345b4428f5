// Whether what threads do between two barriers of their blocks surely holds them until all blocks have come,
// and orders what these have done before. Two protocols: a counter that only grows, up to a goal; and a
// counter that the last block sets back (or that wraps), where a second word then lets the others go on.
#pragma once

#include "analyzer/model/made_barriers/meeting.h"
#include "analyzer/model/made_barriers/sums.h"

namespace kcheck::analyzer {

/// What one meeting shows by itself; what it takes of all that share its words is for the caller to see to.
struct Protocol {
  const Meeting* meeting = nullptr;
  std::optional<WordPlace> released; ///< the second word, where there is one
  /// The number to wait for, of the counter or the second word, where it is carried from meeting to meeting.
  std::optional<Sum> goal;
  const llvm::BasicBlock* goalUsed = nullptr;
  bool isEqual = false;    ///< goes on at the goal alone, not beyond
  bool addsOne = false;    ///< the second word grows by one for each meeting
  bool setsToGoal = false; ///< or becomes the goal
};

std::optional<Protocol> protocolOf(KernelState& state, Sums& sums, const Meeting& meeting);

} // namespace kcheck::analyzer
