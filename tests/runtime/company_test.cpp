// Launches that wait for the host or for each other: set aside, gone on with, given up; what their flags
// order.
#include "device.h"

#include "instrument/runtime/core/epochs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kcheck::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::Rule;

Shape waiting(std::uint32_t blocks, std::uint32_t threads, std::uint64_t stream) {
  Shape shape{{blocks}, {threads}};
  shape.stream = stream;
  shape.mayWait = true;
  runtime::streamCreated(stream, false);
  return shape;
}

void goOnToTheEnd() {
  runtime::heartenLaunches();
  while (runtime::anySetAside() && runtime::goOnWithLaunches() != runtime::GoOn::Exhausted) {
  }
}

TEST(Company, ALaunchGoesOnWhenTheHostHasSetItsFlag) {
  int* flag = zeroedArray<int>(1);
  int* out = zeroedArray<int>(64);
  runtime::deviceSynchronized();
  const Body body = [=](ThreadContext* thread) -> Task {
    Device device(thread);
    while (!device.atomicLoad(flag, 1)) co_await device.yield(950);
    device.write(out + device.global(), 7, 2);
  };
  run(testName(), waiting(2, 32, 21), body);
  EXPECT_TRUE(runtime::anySetAside());
  EXPECT_TRUE(runtime::isSetAside(21));
  EXPECT_FALSE(runtime::isSetAside(22));
  *flag = 1;
  goOnToTheEnd();
  EXPECT_FALSE(runtime::anySetAside());
  EXPECT_EQ(out[63], 7);
  EXPECT_THAT(findingsOf(testName()), IsEmpty());
}

TEST(Company, OneThatNothingHelpsHangs) {
  int* flag = zeroedArray<int>(1);
  runtime::deviceSynchronized();
  const Body body = [=](ThreadContext* thread) -> Task {
    Device device(thread);
    while (!device.atomicLoad(flag, 1)) co_await device.yield(950);
  };
  run(testName(), waiting(1, 32, 23), body);
  goOnToTheEnd();
  EXPECT_TRUE(runtime::anySetAside());
  EXPECT_THAT(findingsOf(testName()), IsEmpty());
  runtime::giveUpLaunches(23);
  EXPECT_FALSE(runtime::anySetAside());
  EXPECT_THAT(rulesOf(testName()), ElementsAre(Rule::Hang));
  EXPECT_TRUE(runtime::deviceFaulted());
  runtime::clearDeviceFault();
}

/// The consumer first, then the producer; or the other way round.
void handOver(const std::string& name, bool consumerFirst, bool fenced) {
  runtime::deviceSynchronized();
  int* flag = zeroedArray<int>(1);
  int* data = zeroedArray<int>(32);
  runtime::deviceSynchronized();
  const Body consumer = [=](ThreadContext* thread) -> Task {
    Device device(thread);
    while (!device.atomicLoad(flag, 1)) co_await device.yield(950);
    device.fence();
    device.read(data + device.x(), 2);
  };
  const Body producer = [=](ThreadContext* thread) -> Task {
    Device device(thread);
    device.write(data + device.x(), 5, 3);
    co_await device.barrier();
    if (device.x() != 0) co_return;
    if (fenced) device.fence();
    device.atomicStore(flag, 1, 4);
  };
  const Shape first = waiting(1, 32, 24), second = waiting(1, 32, 25);
  run(name, first, consumerFirst ? consumer : producer);
  run(name, second, consumerFirst ? producer : consumer);
  goOnToTheEnd();
  EXPECT_FALSE(runtime::anySetAside());
}

TEST(Company, FlagsOrderKernelsOfTwoStreams) {
  for (bool consumerFirst : {true, false}) {
    const std::string name = testName() + (consumerFirst ? "Live" : "Ended");
    handOver(name, consumerFirst, true);
    EXPECT_THAT(findingsOf(name), IsEmpty());
    handOver(name + "Unfenced", consumerFirst, false);
    EXPECT_THAT(rulesOf(name + "Unfenced"), Contains(Rule::RaceHost));
  }
}

TEST(Company, TokensHaveOwnersByLaunch) {
  runtime::Epochs epochs;
  const auto launch = epochs.takeOperation();
  const auto first = epochs.takeInterval(3, 32);
  epochs.beginCompany(launch, 32);
  epochs.joinCompany(64);
  const auto other = epochs.takeOperation(1);
  const std::uint64_t base = std::uint64_t{1} << runtime::kLaunchShift;
  const auto second = epochs.takeInterval(base + 5, 64);
  EXPECT_EQ(epochs.ownerOf(launch, 0).thread, runtime::kWholeBlock);
  EXPECT_EQ(epochs.ownerOf(first + 2 * 31, 0).thread, 31u);
  EXPECT_EQ(epochs.ownerOf(first + 2 * 31, 0).block, 3u);
  EXPECT_EQ(epochs.ownerOf(other, 0).block, runtime::operationBlock(1));
  EXPECT_EQ(epochs.ownerOf(second + 2 * 63, 0).thread, 63u);
  EXPECT_EQ(epochs.ownerOf(second, 0).block, base + 5);
}

} // namespace
} // namespace kcheck::test
