// Accesses that a stronger one of the same kind hides in the cell, and races that only the second order of a
// launch shows.
#include "device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kcheck::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using wire::Rule;

constexpr std::uint32_t kPlain = abi::TraitsKnown;
constexpr std::uint32_t kFine = abi::TraitsKnown | abi::TraitFences | abi::TraitHandsOver;

class Hidden : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Hidden, PlainWriteUnderOwnAtomic) {
  int* c = zeroedArray<int>(1);
  run(testName(), {{3}, {64}, 0, GetParam()}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.global() == 0) device.write(c, 5, 1);
    co_await device.barrier();
    if (device.x() == 40) device.atomicAdd(c, 1, 2);
  });
  auto found = findingsOf(testName());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->rule, Rule::RaceGlobal);
  EXPECT_EQ(found[0]->count, 2u); // each of the other blocks
  EXPECT_EQ(found[0]->access[1].site, 1u);
  EXPECT_EQ(found[0]->access[1].doing, wire::Doing::Write);
}

TEST_P(Hidden, OwnBlockAloneIsFine) {
  int* c = zeroedArray<int>(3);
  run(testName(), {{3}, {64}, 0, GetParam()}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.x() == 0) device.write(c + device.block(), 5, 1);
    co_await device.barrier();
    device.atomicAdd(c + device.block(), 1, 2);
    co_await device.barrier();
    if (device.x() == 0) device.write(c + device.block(), 5, 3);
    co_await device.barrier();
    device.atomicAdd(c + device.block(), 1, 4);
  });
  EXPECT_THAT(rulesOf(testName()), IsEmpty());
}

TEST_P(Hidden, PlainReadUnderOwnAtomicLoad) {
  int* c = zeroedArray<int>(1);
  run(testName(), {{2}, {1}, 0, GetParam()}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.block() == 0) {
      device.read(c, 1);
      device.atomicLoad(c, 2);
    } else {
      device.atomicAdd(c, 1, 3);
    }
    co_return;
  });
  EXPECT_THAT(rulesOf(testName()), ElementsAre(Rule::RaceGlobal));
}

TEST_P(Hidden, SharedPlainWriteBeforeOwnAtomicInOneInterval) {
  run(testName(), {{1}, {64}, 64, GetParam()}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.x() == 0) device.write(device.shared<int>(), 0, 1);
    if (device.x() == 0 || device.x() == 40) device.atomicAdd(device.shared<int>(), 1, 2);
    co_return;
  });
  EXPECT_THAT(rulesOf(testName()), ElementsAre(Rule::RaceShared));
}

TEST_P(Hidden, ForgottenByTheNextLaunch) {
  int* c = zeroedArray<int>(1);
  for (int launch = 0; launch < 2; ++launch)
    run(testName(), {{2}, {1}, 0, GetParam()}, [=](ThreadContext* thread) -> Task {
      Device device(thread);
      if (launch == 0 && device.block() == 0) {
        device.write(c, 5, 1);
        device.atomicAdd(c, 1, 2);
      }
      if (launch == 1) device.atomicAdd(c, 1, 3);
      co_return;
    });
  EXPECT_THAT(rulesOf(testName()), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Traits, Hidden, testing::Values(kPlain, kFine),
                         [](const auto& info) { return info.param == kPlain ? "Barriers" : "Fences"; });

void unlock(const Device& device, int* mutex) {
  device.fence();
  device.exchange(mutex, 0, 11);
}

/// All blocks write under the lock; block `outside` also does so afterwards, without it.
void runLocked(std::uint32_t outside, int* mutex, int* x) {
  run(testName(), {{4}, {1}, 0, kFine}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    while (device.compareExchange(mutex, 0, 1, 10) != 0) co_await device.yield();
    device.fence();
    device.write(x, device.read(x, 1) + 1, 2);
    unlock(device, mutex);
    if (device.block() == outside) device.write(x, 100, 3);
    co_return;
  });
}

TEST(Rehearsal, WriteAfterTheLockByTheLastOne) {
  int *mutex = zeroedArray<int>(1), *x = zeroedArray<int>(1);
  runLocked(3, mutex, x);
  EXPECT_THAT(rulesOf(testName()),
              ElementsAre(Rule::RaceGlobal, Rule::RaceGlobal)); // with the read, the write
  EXPECT_EQ(*x, 100);                                           // as the first order left it
  EXPECT_TRUE(findingsOf(testName())[0]->flags & wire::Rehearsed);
}

TEST(Rehearsal, AlwaysUnderTheLockIsFine) {
  int *mutex = zeroedArray<int>(1), *x = zeroedArray<int>(1);
  runLocked(~0u, mutex, x);
  EXPECT_THAT(rulesOf(testName()), IsEmpty());
  EXPECT_EQ(*x, 4);
}

/// Several readers may hold the lock at once, and one after the other they do not.
TEST(Rehearsal, WriteUnderALockOfReaders) {
  int *readers = zeroedArray<int>(1), *x = zeroedArray<int>(1);
  run(testName(), {{4}, {1}, 0, kFine}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    device.atomicAdd(readers, 1, 10);
    device.fence();
    device.write(x, 1, 2);
    device.fence();
    device.atomicAdd(readers, -1, 11);
    co_return;
  });
  EXPECT_THAT(rulesOf(testName()), ElementsAre(Rule::RaceGlobal));
}

TEST(Rehearsal, LeavesUnwrittenMemoryUnwritten) {
  int *mutex = zeroedArray<int>(1), *x = deviceArray<int>(4);
  run(testName(), {{2}, {1}, 0, kFine}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    while (device.compareExchange(mutex, 0, 1, 10) != 0) co_await device.yield();
    device.fence();
    int first = device.read(mutex + 0, 4);
    if (device.block() == 0 && !(first >> 8)) device.write(x, 1, 1);
    unlock(device, mutex);
    co_return;
  });
  EXPECT_EQ(runtime::firstUnwritten(x, 4 * sizeof(int)), 4u);
}

} // namespace
} // namespace kcheck::test
