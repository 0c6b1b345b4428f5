// Warp collectives with PTX's exact results, barriers that threads miss, hangs, schedules.
#include "device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kcheck::test {
namespace {

using abi::ReduceOp;
using abi::ShuffleMode;
using abi::VoteMode;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::Rule;

/// The clamp and segment word that CUDA's shuffles of `width` give to PTX.
std::uint32_t clampWord(ShuffleMode mode, std::uint32_t width) {
  return (32 - width) << 8 | (mode == ShuffleMode::Up ? 0 : 31);
}

/// What every lane of a full warp gets.
std::vector<int> shuffle(const std::string& name, ShuffleMode mode, std::uint32_t argument,
                         std::uint32_t width) {
  int* out = deviceArray<int>(32);
  run(name, {{1}, {32}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    Wait got = co_await device.wait(WaitKind::Shuffle, 920, ~0u, std::uint32_t(mode), argument,
                                    clampWord(mode, width), 100 + device.x());
    device.write(out + device.x(), int(got.result), 1);
  });
  return {out, out + 32};
}

TEST(Warp, ShufflesAsPtxSays) {
  auto down = shuffle(testName(), ShuffleMode::Down, 4, 32);
  auto up = shuffle(testName(), ShuffleMode::Up, 1, 16);
  auto across = shuffle(testName(), ShuffleMode::Butterfly, 3, 32);
  auto index = shuffle(testName(), ShuffleMode::Index, 5, 8);
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(down[lane], 100 + (lane + 4 < 32 ? lane + 4 : lane));
    EXPECT_EQ(up[lane], 100 + (lane % 16 ? lane - 1 : lane));
    EXPECT_EQ(across[lane], 100 + (lane ^ 3));
    EXPECT_EQ(index[lane], 100 + lane / 8 * 8 + 5);
  }
  EXPECT_THAT(findingsOf(testName()), IsEmpty());
}

TEST(Warp, VotesMatchesReductions) {
  std::uint64_t* out = deviceArray<std::uint64_t>(32 * 6);
  run(testName(), {{1}, {32}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    std::uint32_t x = device.x(), odd = x & 1;
    auto vote = [&](VoteMode mode) {
      return device.wait(WaitKind::Vote, 921, ~0u, std::uint32_t(mode), odd);
    };
    device.write(out + x, (co_await vote(VoteMode::Ballot)).result, 1);
    device.write(out + 32 + x, (co_await vote(VoteMode::Any)).result, 1);
    device.write(out + 64 + x, (co_await vote(VoteMode::All)).result, 1);
    device.write(out + 96 + x, (co_await device.wait(WaitKind::Match, 922, ~0u, 0, 0, 0, x / 8)).result, 1);
    auto reduce = device.wait(WaitKind::Reduce, 923, ~0u, std::uint32_t(ReduceOp::Min), 0, 0, 40 - x);
    device.write(out + 128 + x, (co_await reduce).result, 1);
    device.write(out + 160 + x, (co_await device.wait(WaitKind::Match, 924, ~0u, 1, 0, 0, 7)).result, 1);
  });
  EXPECT_EQ(out[3], 0xaaaaaaaau);
  EXPECT_EQ(out[32], 1u);
  EXPECT_EQ(out[64], 0u);
  EXPECT_EQ(out[96 + 9], 0xff00u);
  EXPECT_EQ(out[128 + 5], 9u);
  EXPECT_EQ(out[160], 0xffffffffu);
  EXPECT_THAT(findingsOf(testName()), IsEmpty());
}

TEST(Warp, PartialMasksRunApart) {
  int* out = deviceArray<int>(32);
  run(testName(), {{1}, {32}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    std::uint32_t mask = device.x() < 12 ? 0xfffu : ~0xfffu;
    Wait all = co_await device.wait(WaitKind::Vote, device.x() < 12 ? 921 : 922, mask,
                                    std::uint32_t(VoteMode::Ballot), 1);
    device.write(out + device.x(), int(all.result), 1);
  });
  EXPECT_EQ(out[0], 0xfff);
  EXPECT_EQ(out[20], ~0xfff);
  EXPECT_THAT(findingsOf(testName()), IsEmpty());
}

TEST(Warp, ActiveLanesAreThoseAtTheSamePlace) {
  int* out = deviceArray<int>(32);
  run(testName(), {{1}, {32}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.x() >= 30) co_return;
    Wait got = co_await device.wait(WaitKind::ActiveMask, device.x() % 2 ? 921 : 922);
    device.write(out + device.x(), int(got.result), 1);
  });
  EXPECT_EQ(std::uint32_t(out[0]), 0x15555555u);
  EXPECT_EQ(std::uint32_t(out[1]), 0x2aaaaaaau);
}

TEST(Warp, MaskOfLanesThatAreElsewhere) {
  run(testName(), {{1}, {32}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.x() < 16) co_await device.wait(WaitKind::Vote, 921, ~0u, std::uint32_t(VoteMode::Any), 1);
    co_await device.barrier();
  });
  EXPECT_THAT(rulesOf(testName()), ElementsAre(Rule::WarpMask));
}

TEST(Warp, CallerOutsideItsMaskAndReadingOfAbsentLanes) {
  run(testName(), {{1}, {32}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.x() == 5) co_await device.syncWarp(0xf, 930);
    if (device.x() >= 8) co_return;
    co_await device.wait(WaitKind::Shuffle, 931, 0xff, std::uint32_t(ShuffleMode::Down), 4,
                         clampWord(ShuffleMode::Down, 32), 1);
  });
  auto rules = rulesOf(testName());
  EXPECT_EQ(rules.size(), 2u);
  EXPECT_THAT(rules, testing::Each(Rule::WarpMask));
}

TEST(Barriers, EarlyReturn) {
  run(testName(), {{2}, {64}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.x() >= 50) co_return;
    co_await device.barrier(940);
  });
  auto found = findingsOf(testName());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->rule, Rule::BarrierDivergence);
  EXPECT_EQ(found[0]->count, 2u);
  EXPECT_EQ(found[0]->access[0].count, 50u);
  EXPECT_EQ(found[0]->access[1].count, 14u);
  EXPECT_EQ(found[0]->access[1].doing, wire::Doing::Returned);
}

TEST(Barriers, DifferentPlaces) {
  run(testName(), {{1}, {64}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.x() < 32)
      co_await device.barrier(940);
    else
      co_await device.barrier(941);
  });
  EXPECT_THAT(rulesOf(testName()), ElementsAre(Rule::BarrierDivergence, Rule::BarrierDivergence));
}

TEST(Barriers, CountAndOr) {
  int* out = deviceArray<int>(3);
  run(testName(), {{1}, {64}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    for (std::uint32_t op = 1; op <= 3; ++op) {
      Wait got = co_await device.wait(WaitKind::BlockBarrier, 942, 0, 0, op, device.x() < 10);
      if (device.x() == 0) device.write(out + op - 1, int(got.result), 1);
    }
  });
  EXPECT_THAT(std::vector<int>(out, out + 3), ElementsAre(10, 0, 1));
  EXPECT_THAT(findingsOf(testName()), IsEmpty());
}

TEST(Hang, AFlagThatNobodySets) {
  int* flag = zeroedArray<int>(1);
  run(testName(), {{2}, {32}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    while (!device.atomicLoad(flag, 1)) co_await device.yield(950);
  });
  auto found = findingsOf(testName());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->rule, Rule::Hang);
  EXPECT_EQ(found[0]->access[0].count, 64u);
  EXPECT_TRUE(runtime::deviceFaulted());
}

TEST(Hang, WaitingForALaterBlockIsNone) {
  int* flag = zeroedArray<int>(1);
  run(testName(), {{40}, {32}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.block() == 39 && device.x() == 0) device.atomicStore(flag, 1, 1);
    while (!device.atomicLoad(flag, 2)) co_await device.yield(950);
  });
  EXPECT_THAT(findingsOf(testName()), IsEmpty());
}

struct WithSchedule {
  explicit WithSchedule(const char* words) { runtime::context().options = runtime::parseOptions(words); }
  ~WithSchedule() { runtime::context().options = {}; }
};

int countWith(const char* words, const std::string& name) {
  WithSchedule schedule(words);
  int* c = zeroedArray<int>(1);
  run(name, {{4}, {64}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    int old = device.read(c, 1);
    device.write(c, old + 1, 2);
    co_return;
  });
  return *c;
}

TEST(Schedules, LockstepShowsLostUpdates) {
  EXPECT_EQ(countWith("schedule=fair", testName()), 256);
  EXPECT_LT(countWith("schedule=lockstep", testName()), 16);
  EXPECT_EQ(countWith("schedule=lockstep", testName()), countWith("schedule=lockstep", testName()));
}

TEST(Schedules, BarriersAndCollectivesWorkInAll) {
  for (const char* words :
       {"schedule=fair", "schedule=lockstep", "schedule=random,seed=3", "schedule=random,seed=4"}) {
    WithSchedule schedule(words);
    int* out = deviceArray<int>(128);
    run(testName(), {{2}, {64}, 512}, [=](ThreadContext* thread) -> Task {
      Device device(thread);
      int* s = device.shared<int>();
      device.write(s + device.x(), int(device.x()), 1);
      co_await device.barrier();
      int mine = device.read(s + 63 - device.x(), 2);
      Wait got = co_await device.wait(WaitKind::Reduce, 923, ~0u, std::uint32_t(ReduceOp::Add), 0, 0,
                                      std::uint64_t(mine));
      device.write(out + device.global(), int(got.result), 3);
    });
    EXPECT_EQ(out[0], (32 + 63) * 16) << words;
    EXPECT_EQ(out[127], 31 * 16) << words;
  }
  EXPECT_THAT(findingsOf(testName()), IsEmpty());
}

} // namespace
} // namespace kcheck::test
