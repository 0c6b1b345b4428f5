// What becomes of a value that is read from memory: whether it decides anything. Of memory that nobody has
// written that is what counts.
#pragma once

#include <cstdint>

namespace llvm {
class CallInst;
} // namespace llvm

namespace kcheck::instrument {

struct ReadValue {
  /// On some way through the function nothing is done with it: no branch, no address, no store and no call
  /// depends on it there.
  bool mayBeDropped = false;
  /// It is stored, or parts of it, and nothing else is done with it.
  bool isCopied = false;
  /// Nothing is done with it: a structure is copied word by word, and this one not looked at.
  bool isUnused = false;
  /// By words of four bytes: those that something is done with (a structure is copied whole, and one of its
  /// members looked at); 0: all.
  std::uint32_t usedWords = 0;
};

/// Of the read that `hook` (kcRead) is for. Neither where the read is not found behind it.
ReadValue valueOf(const llvm::CallInst& hook);

} // namespace kcheck::instrument
