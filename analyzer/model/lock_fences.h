// How far the fences reach that lie between an access and the taking of a lock, or its giving back.
#pragma once

#include "analyzer/kernel_model.h"
#include "analyzer/model/barriers.h"
#include "analyzer/model/fences.h"

#include <algorithm>

namespace kcheck::analyzer {

// A reach, as of `fenceReach`, is how far a fence or atomic goes.
inline constexpr unsigned kNever = 3; ///< the lock is not given back, or on a way that says nothing

/// The widest fences on some way from the taking to an access, or from the access to the giving back: those
/// that order by themselves, which must be the doing of who takes or gives back, and those of one order.
struct Fenced {
  unsigned alone = 0, inOneOrder = 0;
  bool isPastBarrier = false;

  static Fenced never() { return {kNever, kNever, false}; }
  bool isNever() const { return alone == kNever && inOneOrder == kNever; }
  void meet(const Fenced& other) {
    alone = std::min(alone, other.alone);
    inOneOrder = std::min(inOneOrder, other.inOneOrder);
    isPastBarrier = isPastBarrier || other.isPastBarrier;
  }
  void pass(const llvm::Instruction& instruction, bool isOfBlock) {
    if (unsigned reach = fenceReach(instruction)) {
      if (!isPastBarrier || !isOfBlock) alone = std::max(alone, reach);
      if (isInOneOrder(instruction)) inOneOrder = std::max(inOneOrder, reach);
    }
    isPastBarrier = isPastBarrier || isBlockBarrier(instruction);
  }
  friend bool operator==(const Fenced&, const Fenced&) = default;
};

inline AtomicScope scopeOfReach(unsigned reach) {
  return reach == 0 ? AtomicScope::None : reach == kBlockReach ? AtomicScope::Block : AtomicScope::Device;
}

/// No wider than the operations on the lock.
inline LockOrder orderOf(const Fenced& fenced, unsigned widest) {
  return {scopeOfReach(std::min(fenced.alone, widest)), scopeOfReach(std::min(fenced.inOneOrder, widest))};
}

} // namespace kcheck::analyzer
