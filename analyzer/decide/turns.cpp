// Locks that threads take in turn: whoever waits for a number must be the only one that ever does.
#include "analyzer/decide/question.h"

#include <algorithm>

namespace kcheck::analyzer {

/// Whether no two threads wait for the same number at the locks of the object.
bool Decider::haveOwnTurns(unsigned object) {
  const auto [known, isNew] = ownTurns.try_emplace(object, false);
  if (!isNew) return known->second; // false while it is being asked
  const auto turns = kernel.model.turns.find(object);
  if (turns == kernel.model.turns.end() || kernel.model.openTurns.contains(object)) return false;
  const bool isShared = kernel.model.objects[object].space == MemorySpace::Shared;
  const std::vector<LockTurn>& all = turns->second;
  for (std::size_t one = 0; one < all.size(); ++one)
    for (std::size_t other = one; other < all.size(); ++other)
      if (!areApart(all[one], all[other], isShared)) return false;
  return ownTurns[object] = true;
}

bool Decider::areApart(const LockTurn& one, const LockTurn& other, bool isShared) {
  if (one.counter || other.counter) return one.counter == other.counter && one.distance == other.distance;
  return neverMeet(one.access, other.access, isShared);
}

} // namespace kcheck::analyzer
