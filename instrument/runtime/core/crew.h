// The threads that run a launch's blocks on several processors, each of them a share of it (share.h). Only
// launches take part whose outcome hangs on the order of their blocks nowhere but in a race: whole-block
// barriers alone order their threads, and no atomic gives a thread anything; and only while the program
// itself has one thread.
//
// It is an attempt. Memory that the kernel can write is copied first; where a share cannot go on, all of them
// end, memory is as it was, and one thread runs the launch from its start. So findings, values and counts do
// not hang on who was when where.
#pragma once

#include "instrument/runtime/core/block_range.h"
#include "instrument/runtime/core/line_owners.h"
#include "instrument/runtime/core/memory_copy.h"
#include "instrument/runtime/core/pace.h"
#include "instrument/runtime/core/share.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <pthread.h>

namespace kcheck::runtime {

class Crew {
public:
  /// Runs the launch's blocks to their end. False: nothing has happened, and one thread has to run them.
  bool run(LaunchState& launch);
  /// The program has no thread but the one that launches.
  bool isAlone() const;
  /// One thread has run the launch.
  void noteRunByOne(const LaunchState& launch, std::uint64_t cycles, Token tokens);
  void layOutAgain();

  // For the shares:
  std::optional<std::uint64_t> nextBlock(std::uint32_t share);
  const LineOwners& owners() const { return *lines; }
  bool hasCopyOf(Address from, Address to) const;
  /// What a block may need, as far as is known of others of the kernel.
  Token expectedTokens() const { return pace->tokensOfBlock(); }
  /// Tokens for some blocks; none where they run out.
  std::optional<Token> takeTokens(Token count);
  /// A share cannot go on.
  void end() { ended.store(true, std::memory_order_relaxed); }
  bool hasEnded() const { return ended.load(std::memory_order_relaxed); }

private:
  enum class Call : std::uint32_t { None, Waits, Taken };
  struct Helper {
    Crew* crew = nullptr;
    std::uint32_t share = 0;
    pthread_t thread{};
    alignas(64) std::atomic<Call> call = Call::None;
  };

  bool isReady();
  bool attempt(LaunchState& launch);
  void help(Helper& helper);
  void work(std::uint32_t share);
  void copyMemory();
  void callHelpers();
  void dismissHelpers();
  void keepApart();

  std::vector<std::unique_ptr<Share>> shares; ///< the first is the launching thread's
  std::uint32_t active = 0;                   ///< those that take part in the launch
  std::vector<std::unique_ptr<Helper>> helpers;
  std::unique_ptr<BlockRange[]> blocks;
  std::unique_ptr<LineOwners> lines;
  MemoryCopy memory;
  std::atomic<std::uint32_t> partsTaken = 0, partsCopied = 0;
  std::atomic<bool> ended = false;
  std::mutex tokens;
  std::map<const KernelEntry*, Pace> paces;
  Pace* pace = nullptr; ///< of the launch
  bool unusable = false;
  int busy = -1; ///< the launching thread's processor when the others were called
};

/// Crew::run().
bool runBySeveral(LaunchState& launch);
/// No other thread of it can use memory while the launch runs.
bool programHasOneThread();

/// While it lives, one thread runs the launch.
class RunByOne {
public:
  explicit RunByOne(const LaunchState& launch);
  ~RunByOne();
  RunByOne(const RunByOne&) = delete;
  RunByOne& operator=(const RunByOne&) = delete;

private:
  const LaunchState& launch;
  std::uint64_t started;
  Token before;
};

/// The shares' windows show nothing that is still true.
void layOutAgain();

} // namespace kcheck::runtime
