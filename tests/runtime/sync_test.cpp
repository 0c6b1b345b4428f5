// Order finer than barriers: fences with atomics, locks, tickets, flags, scopes, __syncwarp, named barriers.
#include "device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kcheck::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using wire::Rule;

/// Block 0 publishes data, block 1 waits for the flag and reads.
struct Message {
  int writerFence = 2, readerFence = 2; ///< scope; 0: none
  std::uint32_t scope = kDeviceScope;   ///< of the flag
  std::uint32_t writeOrder = 0, readOrder = 0;
};

std::vector<Rule> pass(const std::string& name, Message message) {
  int *data = zeroedArray<int>(1), *flag = zeroedArray<int>(1);
  run(name, {{2}, {32}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.x()) co_return;
    if (device.block() == 1) {
      while (!device.atomicLoad(flag, 3, message.scope | message.readOrder)) co_await device.yield();
      if (message.readerFence) device.fence(std::uint32_t(message.readerFence));
      device.read(data, 4);
      co_return;
    }
    device.write(data, 42, 1);
    if (message.writerFence) device.fence(std::uint32_t(message.writerFence));
    device.atomicStore(flag, 1, 2, message.scope | message.writeOrder);
  });
  return rulesOf(name);
}

TEST(Sync, MessagePassing) {
  std::string name = testName();
  EXPECT_THAT(pass(name, {}), IsEmpty());
  EXPECT_THAT(pass(name + "NoWriterFence", {.writerFence = 0}), ElementsAre(Rule::RaceGlobal));
  EXPECT_THAT(pass(name + "NoReaderFence", {.readerFence = 0}), ElementsAre(Rule::RaceGlobal));
  EXPECT_THAT(pass(name + "NarrowFence", {.writerFence = 1}), ElementsAre(Rule::RaceScope));
  EXPECT_THAT(pass(name + "NarrowFlag", {.scope = kBlockScope}), Contains(Rule::RaceScope));
  EXPECT_THAT(pass(name + "Ordered",
                   {.writerFence = 0, .readerFence = 0, .writeOrder = kRelease, .readOrder = kAcquire}),
              IsEmpty());
  EXPECT_THAT(pass(name + "ReleaseOnly", {.writerFence = 0, .readerFence = 0, .writeOrder = kRelease}),
              ElementsAre(Rule::RaceGlobal));
}

/// Numbers that tell barrier intervals apart are not endless: a launch that uses them up is stopped, and says
/// so.
TEST(Sync, ALaunchWithoutEndIsStopped) {
  bool ended = false;
  run(testName(), {{1}, {64}}, [&](ThreadContext* thread) -> Task {
    Device device(thread);
    constexpr std::uint32_t kManyThreads = 5'000'000; // as if that many were in the block
    for (int round = 0; round < 1'000'000; ++round) {
      if (device.x() == 0) runtime::context().epochs.takeInterval(0, kManyThreads);
      co_await device.barrier();
    }
    ended = true;
  });
  EXPECT_FALSE(ended);
  EXPECT_THAT(rulesOf(testName()), ElementsAre(Rule::Unsupported));
  // And the next launch is checked as ever.
  EXPECT_THAT(pass(testName() + "Next", {.writerFence = 0}), ElementsAre(Rule::RaceGlobal));
}

/// `serving = serving + 1`: the thread that has seen the store comes after the plain read before it, and not
/// after one that follows it.
TEST(Sync, AReadBeforeAStoreThatWasSeenIsInOrder) {
  for (bool late : {false, true}) {
    int* word = zeroedArray<int>(1);
    std::string name = testName() + (late ? "Late" : "");
    run(name, {{2}, {1}}, [=](ThreadContext* thread) -> Task {
      Device device(thread);
      if (device.block() == 1) {
        while (!device.atomicLoad(word, 3)) co_await device.yield();
        device.atomicAdd(word, 1, 4);
        co_return;
      }
      device.fence();
      device.read(word, 1);
      device.atomicStore(word, 1, 2);
      if (late) device.read(word, 5);
    });
    if (late)
      EXPECT_THAT(rulesOf(name), ElementsAre(Rule::RaceGlobal));
    else
      EXPECT_THAT(rulesOf(name), IsEmpty());
  }
}

TEST(Sync, WriteAfterTheFlagIsNotPublished) {
  int *data = zeroedArray<int>(2), *flag = zeroedArray<int>(1);
  run(testName(), {{2}, {1}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.block() == 1) {
      while (!device.atomicLoad(flag, 3)) co_await device.yield();
      device.fence();
      device.read(data, 4);
      device.read(data + 1, 5);
      co_return;
    }
    device.write(data, 1, 1);
    device.fence();
    device.atomicStore(flag, 1, 2);
    device.write(data + 1, 2, 6);
  });
  auto found = findingsOf(testName());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->access[0].site + found[0]->access[1].site, 11u);
}

/// Block 0 reads what block 1 will overwrite, fences and updates the flag that block 1 looks at afterwards.
std::vector<Rule> update(const std::string& name, int added) {
  OneOrder fromFirstToLast;
  int *data = zeroedArray<int>(1), *flag = zeroedArray<int>(1);
  run(name, {{2}, {1}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.block() == 0) {
      device.read(data, 1);
      device.fence();
      device.atomicAdd(flag, added, 2);
      co_return;
    }
    co_await device.yield();
    device.atomicAdd(flag, 0, 3);
    device.fence();
    device.write(data, 1, 4);
  });
  return rulesOf(name);
}

TEST(Sync, AnUpdateThatChangesNothingPublishesNothing) {
  EXPECT_THAT(update(testName(), 1), IsEmpty());
  EXPECT_THAT(update(testName() + "Unchanged", 0), ElementsAre(Rule::RaceGlobal));
}

/// One thread per block adds to a sum under a lock.
std::vector<Rule> lock(const std::string& name, int fences, std::uint32_t scope, bool skipOne = false) {
  int *mutex = zeroedArray<int>(1), *sum = zeroedArray<int>(1);
  run(name, {{16}, {32}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.x()) co_return;
    bool locks = !(skipOne && device.block() == 7);
    if (locks) {
      while (device.compareExchange(mutex, 0, 1, 1, scope)) co_await device.yield();
      if (fences & 1) device.fence();
    }
    int old = device.read(sum, 2);
    device.write(sum, old + 1, 3);
    if (locks) {
      if (fences & 2) device.fence();
      device.exchange(mutex, 0, 4, scope);
    }
  });
  EXPECT_EQ(*sum, 16);
  return rulesOf(name);
}

TEST(Sync, SpinLock) {
  std::string name = testName();
  EXPECT_THAT(lock(name, 3, kDeviceScope), IsEmpty());
  EXPECT_THAT(lock(name + "NoReleaseFence", 1, kDeviceScope), Contains(Rule::RaceGlobal));
  EXPECT_THAT(lock(name + "NoAcquireFence", 2, kDeviceScope), Contains(Rule::RaceGlobal));
  EXPECT_THAT(lock(name + "BlockScope", 3, kBlockScope), Contains(Rule::RaceScope));
  EXPECT_THAT(lock(name + "NotTakenOnce", 3, kDeviceScope, true), Contains(Rule::RaceGlobal));
}

TEST(Sync, ContendedLockWithinAWarp) {
  int *mutex = zeroedArray<int>(1), *sum = zeroedArray<int>(1);
  run(testName(), {{2}, {64}}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    while (device.compareExchange(mutex, 0, 1, 1)) co_await device.yield();
    device.fence();
    int old = device.read(sum, 2);
    co_await device.yield(); // the holder is not done when others try
    device.write(sum, old + 1, 3);
    device.fence();
    device.exchange(mutex, 0, 4);
  });
  EXPECT_EQ(*sum, 128);
  EXPECT_THAT(findingsOf(testName()), IsEmpty());
}

/// Every block writes its sum; the last to take a ticket adds them up and resets the counter.
std::vector<Rule> lastBlock(const std::string& name, bool fence, bool allRead) {
  constexpr std::uint32_t blocks = 8;
  int *sums = deviceArray<int>(blocks), *count = zeroedArray<int>(1), *total = zeroedArray<int>(1);
  run(name, {{blocks}, {64}, 16}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    int* last = device.shared<int>();
    if (device.x() == 0) {
      device.write(sums + device.block(), 1, 1);
      if (fence) device.fence();
      int ticket = device.atomicAdd(count, 1, 2);
      device.write(last, int(ticket == int(blocks) - 1), 3);
    }
    co_await device.barrier();
    if (!device.read(last, 4) && !allRead) co_return;
    if (device.x() == 0) {
      int sum = 0;
      for (std::uint32_t i = 0; i < blocks; ++i) sum += device.read(sums + i, 5);
      device.write(total, sum, 6);
      if (!allRead) device.write(count, 0, 7);
    }
  });
  return rulesOf(name);
}

TEST(Sync, LastBlockByTicket) {
  std::string name = testName();
  EXPECT_THAT(lastBlock(name, true, false), IsEmpty());
  EXPECT_THAT(lastBlock(name + "NoFence", false, false), Contains(Rule::RaceGlobal));
  EXPECT_THAT(lastBlock(name + "AllRead", true, true), Contains(Rule::RaceGlobal));
}

TEST(Sync, TransitiveThroughBarriers) {
  // Threads 1..63 write, barrier, thread 0 publishes; the other block's thread 0 receives, barrier, all read.
  int *data = zeroedArray<int>(64), *flag = zeroedArray<int>(1);
  for (bool barriers : {true, false}) {
    std::string name = testName() + (barriers ? "" : "Without");
    *flag = 0;
    run(name, {{2}, {64}}, [=](ThreadContext* thread) -> Task {
      Device device(thread);
      if (device.block() == 0) {
        device.write(data + device.x(), 1, 1);
        if (barriers) co_await device.barrier(900);
        if (device.x() == 0) {
          device.fence();
          device.atomicStore(flag, 1, 2);
        }
        co_return;
      }
      if (device.x() == 0) {
        while (!device.atomicLoad(flag, 3)) co_await device.yield();
        device.fence();
      }
      co_await device.barrier(901);
      device.read(data + device.x(), 4);
    });
    if (barriers)
      EXPECT_THAT(findingsOf(name), IsEmpty());
    else
      EXPECT_THAT(rulesOf(name), ElementsAre(Rule::RaceGlobal));
  }
}

TEST(Sync, SyncwarpOrdersTheNamedLanes) {
  for (std::uint32_t mask : {~0u, 0xffffu, 0u}) {
    std::string name = testName() + std::to_string(mask);
    run(name, {{1}, {32}, 128}, [=](ThreadContext* thread) -> Task {
      Device device(thread);
      int* s = device.shared<int>();
      device.write(s + device.x(), 1, 1);
      if (mask && (mask >> device.x() & 1)) co_await device.syncWarp(mask);
      if (device.x() < 16) device.read(s + 15 - device.x(), 2);
      if (device.x() == 31) device.read(s + 30, 3);
    });
    if (mask == ~0u) EXPECT_THAT(findingsOf(name), IsEmpty());
    if (mask == 0xffffu) EXPECT_THAT(rulesOf(name), ElementsAre(Rule::RaceWarp));
    if (mask == 0) EXPECT_GE(findingsOf(name).size(), 2u);
  }
}

TEST(Sync, WarpReductionNeedsEverySyncwarp) {
  for (bool all : {true, false}) {
    std::string name = testName() + (all ? "" : "OneMissing");
    int* out = deviceArray<int>(1);
    run(name, {{1}, {32}, 128}, [=](ThreadContext* thread) -> Task {
      Device device(thread);
      int* s = device.shared<int>();
      device.write(s + device.x(), 1, 1);
      co_await device.syncWarp();
      for (std::uint32_t step = 16; step; step /= 2) {
        if (device.x() < step) {
          int mine = device.read(s + device.x(), 2), other = device.read(s + device.x() + step, 3);
          device.write(s + device.x(), mine + other, 4);
        }
        if (all || step != 4) co_await device.syncWarp();
      }
      if (device.x() == 0) device.write(out, device.read(s, 5), 6);
    });
    if (all) {
      EXPECT_THAT(findingsOf(name), IsEmpty());
      EXPECT_EQ(*out, 32);
    } else {
      EXPECT_THAT(rulesOf(name), Each(Rule::RaceWarp));
      EXPECT_THAT(findingsOf(name), Not(IsEmpty()));
    }
  }
}

TEST(Sync, BroadcastThenWriteAfterSyncwarp) {
  for (bool ordered : {true, false}) {
    std::string name = testName() + (ordered ? "" : "Unordered");
    int* x = zeroedArray<int>(1);
    run(name, {{1}, {32}}, [=](ThreadContext* thread) -> Task {
      Device device(thread);
      device.read(x, 1);
      if (ordered) co_await device.syncWarp();
      if (device.x() == 31) device.write(x, 1, 2);
    });
    EXPECT_EQ(findingsOf(name).empty(), ordered);
  }
}

TEST(Sync, NamedBarrierOrdersItsThreadsOnly) {
  // Warps 0 and 1 hand over through barrier 1; warp 2 has no part in it.
  run(testName(), {{1}, {96}, 512}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    int* s = device.shared<int>();
    std::uint32_t warp = device.x() / 32;
    if (warp == 0) device.write(s + device.x(), 1, 1);
    if (warp < 2) co_await device.wait(WaitKind::BlockBarrier, 910, 1, 64);
    if (warp == 1) device.read(s + device.x() - 32, 2);
    if (warp == 2) device.read(s + device.x() - 64, 3);
  });
  auto found = findingsOf(testName());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->access[0].site + found[0]->access[1].site, 4u);
}

TEST(Sync, ArriveReleasesWithoutWaiting) {
  for (bool arrives : {true, false}) {
    std::string name = testName() + (arrives ? "" : "Not");
    run(name, {{1}, {64}, 512}, [=](ThreadContext* thread) -> Task {
      Device device(thread);
      int* s = device.shared<int>();
      if (device.x() < 32) {
        if (arrives) {
          device.write(s + device.x(), 1, 1);
          co_await device.wait(WaitKind::BarrierArrive, 911, 2, 64);
        } else {
          co_await device.wait(WaitKind::BarrierArrive, 911, 2, 64);
          device.write(s + device.x(), 1, 1);
        }
        co_return;
      }
      co_await device.wait(WaitKind::BlockBarrier, 912, 2, 64);
      device.read(s + device.x() - 32, 2);
    });
    EXPECT_EQ(findingsOf(name).empty(), arrives);
  }
}

TEST(Sync, GridSyncOrdersBlocks) {
  for (bool synchronised : {true, false}) {
    std::string name = testName() + (synchronised ? "" : "Not");
    int* x = zeroedArray<int>(256);
    Shape shape{{4}, {64}};
    shape.cooperative = true;
    run(name, shape, [=](ThreadContext* thread) -> Task {
      Device device(thread);
      for (int step = 0; step < 3; ++step) {
        device.write(x + (device.global() + 64u * std::uint32_t(step)) % 256, step, 1);
        if (synchronised) co_await device.gridSync();
      }
    });
    EXPECT_EQ(findingsOf(name).empty(), synchronised);
  }
}

TEST(Streams, EventsOrderStreams) {
  int* x = zeroedArray<int>(64);
  runtime::streamCreated(11, false);
  runtime::streamCreated(12, false);
  for (bool ordered : {true, false}) {
    std::string name = testName() + (ordered ? "" : "Not");
    runtime::deviceSynchronized();
    Body body = [=](ThreadContext* thread) -> Task {
      Device device(thread);
      device.write(x + device.x(), 1, 1);
      co_return;
    };
    Shape shape{{1}, {64}};
    shape.stream = 11;
    run(name, shape, body);
    if (ordered) {
      runtime::eventRecorded(5, 11);
      runtime::streamWaits(12, 5);
    }
    shape.stream = 12;
    run(name, shape, body);
    if (ordered)
      EXPECT_THAT(findingsOf(name), IsEmpty());
    else
      EXPECT_THAT(rulesOf(name), ElementsAre(Rule::RaceHost));
  }
}

} // namespace
} // namespace kcheck::test
