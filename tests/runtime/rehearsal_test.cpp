// A launch may run again in other orders, and that costs no more than its first run, or half a second.
#include "instrument/runtime/core/rehearsal.h"

#include "device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kcheck::runtime {
namespace {

constexpr Rehearsal kAll[] = {Rehearsal::Backwards,          Rehearsal::InStep,         Rehearsal::Staggered,
                              Rehearsal::FromFull,           Rehearsal::Impatient,      Rehearsal::Uneven,
                              Rehearsal::ImpatientBackwards, Rehearsal::ImpatientInStep};

TEST(RehearsalLimit, isWhatTheFirstRunHasCost) {
  constexpr std::uint64_t first = 50'000'000;
  for (Rehearsal order : kAll) EXPECT_LE(rehearsalLimit(order, first, false), first);
  EXPECT_EQ(rehearsalLimit(Rehearsal::Backwards, first, false), first);
  EXPECT_LT(rehearsalLimit(Rehearsal::Impatient, first, false), first / 8);
}

TEST(RehearsalLimit, leavesShortLaunchesRoomToWait) {
  constexpr std::uint64_t first = 1'000;
  EXPECT_GE(rehearsalLimit(Rehearsal::Backwards, first, false), 8 * first);
  for (Rehearsal order : {Rehearsal::InStep, Rehearsal::Staggered, Rehearsal::Uneven})
    EXPECT_GE(rehearsalLimit(order, first, false), 200'000u);
}

TEST(Rehearsal, IsImpatientInFewStepsFirst) {
  EXPECT_EQ(hasteIn(Rehearsal::InStep, 0), 0);
  EXPECT_GT(hasteIn(Rehearsal::ImpatientBackwards, 0), 0);
  EXPECT_EQ(hasteIn(Rehearsal::ImpatientInStep, 0), 1);
  EXPECT_GT(hasteIn(Rehearsal::ImpatientInStep, 1), 1);
}

/// A stack by compare-and-swap, of nodes that each thread pushes and pops once.
std::vector<wire::Rule> stack(const std::string& name, bool fence) {
  using namespace test;
  int *head = zeroedArray<int>(1), *next = zeroedArray<int>(65), *value = zeroedArray<int>(65);
  run(name, {{2}, {32}}, [=](abi::ThreadContext* thread) -> Task {
    Device device(thread);
    int mine = static_cast<int>(device.global()) + 1, seen = 0;
    device.write(value + mine, mine, 1);
    for (int old = device.atomicLoad(head, 2);; old = seen) {
      device.write(next + mine, old, 3);
      if (fence) device.fence();
      seen = device.compareExchange(head, old, mine, 4);
      if (seen == old) break;
    }
    int top = device.atomicLoad(head, 5);
    while (top) {
      device.fence();
      int below = device.read(next + top, 6);
      seen = device.compareExchange(head, top, below, 7);
      if (seen == top) break;
      top = seen;
    }
    if (top) device.read(value + top, 8);
    co_return;
  });
  return rulesOf(name);
}

/// In even steps each thread pops the node that it has pushed.
TEST(Rehearsal, AnUnevenOneLetsThreadsPopTheNodesOfOthers) {
  std::string name = test::testName();
  EXPECT_THAT(stack(name, false), testing::Contains(wire::Rule::RaceGlobal));
  EXPECT_THAT(stack(name + "Fenced", true), testing::IsEmpty());
}

/// How often the only thread of two that counts has run.
int runsOf(const std::string& name, std::uint32_t traits) {
  using namespace test;
  int* counter = zeroedArray<int>(1);
  int runs = 0;
  run(name, {{1}, {2}, 0, traits}, [=, &runs](abi::ThreadContext* thread) -> Task {
    Device device(thread);
    runs += device.global() == 0;
    device.atomicAdd(counter, 1, 1);
    co_return;
  });
  return runs;
}

TEST(Rehearsal, IsOfKernelsThatHandSomethingOverAlone) {
  std::string name = test::testName();
  constexpr std::uint32_t fine = abi::TraitsKnown | abi::TraitFences;
  EXPECT_GT(runsOf(name, fine | abi::TraitHandsOver), 1);
  EXPECT_EQ(runsOf(name + "Not", fine), 1);
}

std::size_t cutShortOf(const std::string& name, int rounds) {
  using namespace test;
  int* counter = zeroedArray<int>(1);
  run(name, {{1}, {2}}, [=](abi::ThreadContext* thread) -> Task {
    Device device(thread);
    for (int i = 0; i < rounds; ++i) device.atomicAdd(counter, 1, 1);
    co_return;
  });
  std::size_t count = 0;
  for (const auto* cut : records<wire::CutShort>(wire::RecordKind::CutShort))
    count += textAt(cut->kernel) == name;
  return count;
}

TEST(Rehearsal, SaysWhenItWasCutShort) {
  std::string name = test::testName();
  EXPECT_EQ(cutShortOf(name, 100), 0u);
  EXPECT_EQ(cutShortOf(name + "Long", 400'000), 1u);
}

} // namespace
} // namespace kcheck::runtime
