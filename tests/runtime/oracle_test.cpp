// The detector against a slow, obviously right one: full vector clocks, every access of a word kept. Random
// programs of a few threads run on both; they must agree on whether each program has a race.
#include "device.h"

#include "instrument/runtime/core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace kcheck::test {
namespace {

using runtime::Random;

constexpr std::uint32_t kBlocks = 3, kThreads = 34, kWords = 4, kFlags = 2; // two warps, one of two lanes

enum class Step {
  Read,
  Write,
  Add,
  AddNarrow,
  Fence,
  FenceNarrow,
  Release,
  Acquire,
  Load,      ///< atomic
  ReadFlag,  ///< plainly
  WriteFlag, ///< plainly
  WarpSync,
  Barrier
};

struct Action {
  Step step;
  std::uint32_t word;
  std::uint32_t site;
};

/// What each thread does, barriers and warp syncs in step for all threads that have them.
struct Program {
  std::vector<Action> steps[kBlocks][kThreads];
};

/// A few threads do all the work, so that they meet; the others only take part in barriers, and in some
/// programs in reading a word, more of them than a word's readers are remembered one by one.
Program makeProgram(Random& random) {
  Program program;
  std::uint32_t site = 1;
  bool narrow = random.below(4) == 0, mixed = random.below(3) == 0;
  const bool anyReadByAll = random.below(4) == 0;
  const std::uint32_t readByAll = random.below(kWords);
  for (auto& block : program.steps) {
    std::uint32_t phases = 1 + random.below(3);
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
      if (anyReadByAll && random.below(2)) {
        for (auto& steps : block) steps.push_back({Step::Read, readByAll, site});
        ++site;
      }
      for (std::uint32_t part = 0; part < 2; ++part) {
        for (std::uint32_t thread : {0u, 1u, 33u}) {
          std::uint32_t count = random.below(4);
          for (std::uint32_t i = 0; i < count; ++i) {
            Step step = static_cast<Step>(random.below(mixed ? 11 : 8));
            bool plain = step == Step::Read || step == Step::Write || step == Step::WriteFlag;
            if (plain && random.below(3)) continue; // most random programs would race
            if (step == Step::AddNarrow && !narrow) step = Step::Add;
            std::uint32_t of = step >= Step::Add ? kFlags : kWords;
            block[thread].push_back({step, random.below(of), site++});
          }
        }
        if (part == 0 && random.below(2))
          for (std::uint32_t thread = 0; thread < 32; ++thread)
            block[thread].push_back({Step::WarpSync, 0, 0});
      }
      for (auto& steps : block) steps.push_back({Step::Barrier, 0, 0});
    }
  }
  return program;
}

/// The oracle. Threads are numbered through all blocks; clocks are full vectors.
class Oracle {
public:
  static constexpr std::uint32_t kAll = kBlocks * kThreads;
  static constexpr std::uint32_t kSeen = kAll; ///< entries of a clock that count operations on a flag
  using Vector = std::array<std::uint32_t, kAll + kFlags>;

  void access(std::uint32_t thread, bool flag, std::uint32_t word, bool writes, std::uint32_t atomicScope) {
    for (const Past& past : history[{flag, word}]) {
      if (past.thread == thread || !(writes || past.writes)) continue;
      bool sameBlock = past.thread / kThreads == thread / kThreads;
      if (atomicScope && past.atomicScope && (sameBlock || (atomicScope > 1 && past.atomicScope > 1)))
        continue;
      if (now[thread][past.thread] >= past.time) continue;
      mayRace = true;
      // Who has seen the flag's last value knows that the atomics before it are done, released or not.
      if (past.atomicScope && now[thread][kSeen + word] >= versions[word]) continue;
      if (!racy)
        witness = "thread " + std::to_string(past.thread) + " and thread " + std::to_string(thread) +
                  " at word " + std::to_string(word) + (flag ? " (flag)" : "") + "\n";
      racy = true;
    }
    history[{flag, word}].push_back({thread, time(thread), writes, atomicScope});
  }
  void fence(std::uint32_t thread, std::uint32_t scope) {
    receive(thread, scope);
    tick(thread);
    Vector all = everything(thread);
    fenced[thread].narrow = all;
    if (scope > 1) fenced[thread].wide = all;
  }
  /// A read-modify-write of the flag.
  void add(std::uint32_t thread, std::uint32_t flag, std::uint32_t scope, bool acquires, bool releases) {
    Flag& word = flags[flag];
    now[thread][kSeen + flag] = ++versions[flag];
    std::uint32_t block = thread / kThreads;
    if (scope > 1) join(pending[thread].wide, word.wide);
    join(pending[thread].narrow, word.byBlock[block]);
    if (acquires) receive(thread, scope);
    if (releases) {
      tick(thread);
      Vector all = everything(thread);
      if (scope > 1) join(word.wide, all);
      join(word.byBlock[block], all);
      return;
    }
    if (scope > 1) join(word.wide, fenced[thread].wide), join(word.wide, blockFenced[block].wide);
    join(word.byBlock[block], fenced[thread].narrow);
    join(word.byBlock[block], blockFenced[block].narrow);
  }
  /// An atomic read of the flag.
  void load(std::uint32_t thread, std::uint32_t flag) {
    now[thread][kSeen + flag] = versions[flag];
    join(pending[thread].wide, flags[flag].wide);
    join(pending[thread].narrow, flags[flag].byBlock[thread / kThreads]);
  }
  /// Threads meet: a barrier or a warp sync. `whole`: of the block.
  void meet(const std::vector<std::uint32_t>& threads, bool whole) {
    Vector all{};
    Reach ready{}; // what each may publish behind a barrier of some: what any of them has fenced
    for (std::uint32_t thread : threads) {
      receive(thread, 2);
      tick(thread);
      join(all, everything(thread));
      join(ready.narrow, fenced[thread].narrow);
      join(ready.wide, fenced[thread].wide);
      if (!whole) continue;
      std::uint32_t block = thread / kThreads;
      join(blockFenced[block].narrow, fenced[thread].narrow);
      join(blockFenced[block].wide, fenced[thread].wide);
    }
    for (std::uint32_t thread : threads) {
      now[thread] = all;
      fenced[thread] = whole ? Reach{} : ready;
    }
  }
  bool racy = false;    ///< must be found
  bool mayRace = false; ///< may be: by the letter of the model
  std::string trace, witness;

private:
  struct Past {
    std::uint32_t thread, time;
    bool writes;
    std::uint32_t atomicScope;
  };
  struct Reach {
    Vector narrow{}, wide{};
  };
  struct Flag {
    Vector wide{};
    std::array<Vector, kBlocks> byBlock{};
  };
  static void join(Vector& into, const Vector& from) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
  }
  std::uint32_t time(std::uint32_t thread) const { return times[thread] + 1; }
  /// What the thread did up to here and what it does from here on are told apart.
  void tick(std::uint32_t thread) {
    now[thread][thread] = time(thread);
    ++times[thread];
  }
  /// Up to the thread's last tick.
  Vector everything(std::uint32_t thread) { return now[thread]; }
  void receive(std::uint32_t thread, std::uint32_t scope) {
    join(now[thread], pending[thread].narrow);
    pending[thread].narrow = {};
    if (scope < 2) return;
    join(now[thread], pending[thread].wide);
    pending[thread].wide = {};
  }

  std::map<std::pair<bool, std::uint32_t>, std::vector<Past>> history;
  std::array<Vector, kAll> now{};
  std::array<std::uint32_t, kAll> times{};
  std::array<Reach, kAll> pending{}, fenced{};
  std::array<Reach, kBlocks> blockFenced{};
  std::array<Flag, kFlags> flags{};
  std::array<std::uint32_t, kFlags> versions{};
};

bool detectorSaysRacy(const Program& program, int* words, int* flags, Oracle& oracle,
                      const std::string& name) {
  // The oracle is driven from within the threads, so both see the same order.
  std::map<std::uint32_t, std::uint32_t> arrived, warpArrived;
  auto* arrivals = &arrived;
  auto* warps = &warpArrived;
  std::uint64_t logBefore = runtime::log().header().used;
  run(name, {{kBlocks}, {kThreads}}, [&, arrivals, warps](ThreadContext* context) -> Task {
    Device device(context);
    std::uint32_t thread = device.global(), block = device.block();
    static const char* names[] = {"read",        "write",    "add",     "add_block", "fence",
                                  "fence_block", "release",  "acquire", "load",      "read_flag",
                                  "write_flag",  "syncwarp", "barrier"};
    for (const Action& action : program.steps[block][device.x()]) {
      if (action.site || device.x() == 0)
        oracle.trace += "b" + std::to_string(block) + " t" + std::to_string(device.x()) + " " +
                        names[int(action.step)] + " " + std::to_string(action.word) + " site " +
                        std::to_string(action.site) + "\n";
      switch (action.step) {
      case Step::Read:
        oracle.access(thread, false, action.word, false, 0);
        device.read(words + action.word, action.site);
        break;
      case Step::Write:
        oracle.access(thread, false, action.word, true, 0);
        device.write(words + action.word, 1, action.site);
        break;
      case Step::Add:
      case Step::AddNarrow:
      case Step::Release:
      case Step::Acquire: {
        bool narrow = action.step == Step::AddNarrow, release = action.step == Step::Release,
             acquire = action.step == Step::Acquire;
        oracle.access(thread, true, action.word, true, narrow ? 1 : 2);
        oracle.add(thread, action.word, narrow ? 1 : 2, acquire, release);
        device.atomicAdd(flags + action.word, 1, action.site,
                         (narrow ? kBlockScope : kDeviceScope) | (release   ? kRelease
                                                                  : acquire ? kAcquire
                                                                            : 0));
        break;
      }
      case Step::Load:
        oracle.access(thread, true, action.word, false, 2);
        oracle.load(thread, action.word);
        device.atomicLoad(flags + action.word, action.site);
        break;
      case Step::ReadFlag:
        oracle.access(thread, true, action.word, false, 0);
        device.read(flags + action.word, action.site);
        break;
      case Step::WriteFlag: // never back to a value that it had
        oracle.access(thread, true, action.word, true, 0);
        device.write(flags + action.word, static_cast<int>(action.site << 16), action.site);
        break;
      case Step::Fence:
      case Step::FenceNarrow:
        oracle.fence(thread, action.step == Step::Fence ? 2 : 1);
        device.fence(action.step == Step::Fence ? 2 : 1);
        break;
      case Step::WarpSync:
        if (++(*warps)[block] % 32 == 0) {
          std::vector<std::uint32_t> all;
          for (std::uint32_t i = 0; i < 32; ++i) all.push_back(block * kThreads + i);
          oracle.meet(all, false);
        }
        co_await device.syncWarp();
        break;
      case Step::Barrier:
        if (++(*arrivals)[block] % kThreads == 0) {
          std::vector<std::uint32_t> all;
          for (std::uint32_t i = 0; i < kThreads; ++i) all.push_back(block * kThreads + i);
          oracle.meet(all, true);
        }
        co_await device.barrier();
        break;
      }
    }
  });
  return !records<wire::Finding>(wire::RecordKind::Finding, logBefore).empty();
}

TEST(Oracle, RandomProgramsAgree) {
  constexpr int programs = 10'000;
  OneOrder theOracles;
  Random random(20);
  int racy = 0, missed = 0, invented = 0;
  std::string firstWrong;
  for (int i = 0; i < programs; ++i) {
    Program program = makeProgram(random);
    int *words = zeroedArray<int>(kWords), *flags = zeroedArray<int>(kFlags);
    auto oracle = std::make_unique<Oracle>();
    std::string name = testName() + std::to_string(i);
    bool found = detectorSaysRacy(program, words, flags, *oracle, name);
    racy += oracle->racy;
    missed += oracle->racy && !found;
    invented += !oracle->mayRace && found;
    if ((oracle->racy && !found) || (found && !oracle->mayRace))
      firstWrong = name + "\n" + oracle->trace + oracle->witness;
  }
  EXPECT_EQ(missed, 0) << firstWrong;
  EXPECT_EQ(invented, 0) << firstWrong;
  // The programs say something only when both kinds are common.
  EXPECT_GT(racy, programs / 10);
  EXPECT_LT(racy, programs * 9 / 10) << "of " << programs;
}

} // namespace
} // namespace kcheck::test
