// The one clock of the run: hands out tokens in ranges and remembers to whom. A block takes a range for each
// of its barrier intervals (two tokens per thread and two for "several"); a thread that releases something
// takes a pair of its own, so that what it does afterwards is told apart.
#pragma once

#include "instrument/runtime/core/shadow.h"

#include <vector>

namespace kcheck::runtime {

/// Tokens kept back for what takes many at once.
inline constexpr std::uint64_t kTokenReserve = 1u << 26;
inline constexpr std::uint32_t kWholeBlock = ~std::uint32_t{0};
inline constexpr std::uint32_t kWarpEpoch = std::uint32_t{1} << 31; ///< | number of the warp in the block
/// + thread: the asynchronous copies of that thread, which are not in step with it.
inline constexpr std::uint32_t kCopies = 1024;
/// Blocks of launches that live at the same time (company.h) are told apart by their upper half, the number
/// of the launch; its last lower half stands for the launch as such.
inline constexpr unsigned kLaunchShift = 32;
inline constexpr std::uint64_t kLaunchItself = 0xFFFF'FFFF;
inline constexpr std::uint64_t kNoLaunch = (std::uint64_t{1} << 19) - 1; ///< copies and fills between them
inline constexpr std::uint64_t operationBlock(std::uint64_t launch) {
  return launch << kLaunchShift | kLaunchItself;
}
inline constexpr bool isCopy(std::uint32_t thread) { return thread >= kCopies && thread < 2 * kCopies; }

/// Who holds the tokens from `first` on, up to the next entry.
struct Epoch {
  Token first;
  std::uint32_t
      thread; ///< in the block; kWholeBlock for an interval of the block, kWarpEpoch | warp for a warp
  std::uint64_t block; ///< linear index in the grid
};

/// One token's owner.
struct Owner {
  std::uint64_t block = 0;
  std::uint32_t thread = kWholeBlock; ///< kWholeBlock: several threads
  Token intervalStart = 0;            ///< of the range that the token belongs to
  Token threadsEnd = 0;               ///< up to there its tokens are those of single threads
  bool isOfInterval = false;          ///< between two barriers of the block
};

/// Ranges of tokens of which something is known for good, each where its tokens are looked for.
class TokenRanges {
public:
  bool holds(Token token) const {
    const Range& range = ranges[slotOf(token)];
    return token - range.first < range.count;
  }
  /// `token` is one of the range.
  void note(Token token, Token first, Token end) { ranges[slotOf(token)] = {first, end - first}; }
  void clear() { *this = {}; }

private:
  struct Range {
    Token first = 0, count = 0;
  };
  static constexpr std::size_t kRanges = 64;
  static std::size_t slotOf(Token token) { return (token >> 6) % kRanges; }
  Range ranges[kRanges];
};

class Epochs {
public:
  Token now() const { return next; }
  /// Range for one interval of a block of `threads` threads.
  Token takeInterval(std::uint64_t block, std::uint32_t threads) {
    enter(kWholeBlock, block);
    return advance(tokensOf(threads));
  }
  static constexpr Token tokensOf(std::uint32_t threads) { return 2 * threads + 2; }
  Token takeThread(std::uint64_t block, std::uint32_t thread) {
    enter(thread, block);
    return advance(2);
  }
  /// A token for each lane of a warp.
  Token takeWarp(std::uint64_t block, std::uint32_t warp) {
    enter(kWarpEpoch | warp, block);
    return advance(64);
  }
  /// So many for another clock to hand out; startAt() is how that one begins.
  Token takeRange(Token count) {
    if (!blockSizes.empty()) enter(kWholeBlock, operationBlock(kNoLaunch));
    return advance(count);
  }
  void startAt(Token first, Token behind) {
    next = first;
    end = behind;
  }
  Token left() const { return end - next; }
  /// Tokens for a launch or host operation as such.
  Token takeOperation(std::uint64_t launch = kNoLaunch) {
    if (!blockSizes.empty()) enter(kWholeBlock, operationBlock(launch));
    return advance(2);
  }

  /// The owner of a token of the current launch; `threads` per block.
  Owner ownerOf(Token token, std::uint32_t threads) const;

  /// The launch whose tokens begin at `first`, the only one that has owners yet, gets company: it is number
  /// 0, and those that join it are numbered from 1 on.
  void beginCompany(Token first, std::uint32_t threads);
  void joinCompany(std::uint32_t threads) { blockSizes.push_back(threads); }
  void endCompany() { blockSizes.clear(); }
  std::size_t owners() const { return entries.size(); }

  /// A new launch starts: tokens before it have no owners any more.
  void forgetOwners() {
    entries.clear();
    starts.clear();
  }
  /// So near the end of 32 bits that tokens must be renewed before `wanted` more are taken.
  bool exhausted(std::uint64_t wanted) const { return std::uint64_t{next} + wanted >= kLastToken; }
  void restart() { next = kFirstToken; } ///< the shadow must hold no token any more

private:
  Token advance(std::uint64_t count) {
    Token first = next;
    next += static_cast<Token>(count);
    return first;
  }
  Token next = kFirstToken, end = kFirstToken;
  std::vector<Epoch> entries;
  std::vector<std::uint32_t> blockSizes; ///< in threads, by number of the launch; empty without company
  std::vector<std::uint32_t> starts; ///< the entry that holds every 256th token, from the first entry's on

  static constexpr Token kStep = 256;
  void enter(std::uint32_t thread, std::uint64_t block) {
    auto number = static_cast<std::uint32_t>(entries.size());
    entries.push_back({next, thread, block});
    for (Token from = entries.front().first; next - from >= kStep * starts.size();)
      starts.push_back(next - from == kStep * starts.size() ? number : number - 1);
  }
};

} // namespace kcheck::runtime
