// Races that barriers alone decide, bounds and initialisation, through kernels written by hand.
#include "device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kcheck::test {

std::string testName() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  return std::string(info->test_suite_name()) + "." + info->name();
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using wire::Rule;

constexpr std::uint32_t kPlain = abi::TraitsKnown; // nothing but block barriers

TEST(Races, CounterWithoutAtomics) {
  int* c = zeroedArray<int>(1);
  run(testName(), {{4}, {64}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    int old = device.read(c, 1);
    device.write(c, old + 1, 2);
    co_return;
  });
  // Both pairs of sites: the write against the read, and the write against itself.
  auto found = findingsOf(testName());
  ASSERT_EQ(found.size(), 2u);
  for (const auto* finding : found) {
    EXPECT_EQ(finding->count, 255u);
    EXPECT_TRUE(finding->access[0].site == 2 || finding->access[1].site == 2);
    EXPECT_EQ(finding->rule, Rule::RaceGlobal); // although some of the pairs are of one warp
    EXPECT_EQ(finding->nearness, wire::Nearness::Grid);
  }
  EXPECT_EQ(*c, 256); // one thread after the other: the right number by luck
}

TEST(Races, FirstWitnessAndValues) {
  int* c = zeroedArray<int>(1);
  run(testName(), {{2}, {1}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    device.write(c, 7 + int(device.block()), 2);
    co_return;
  });
  auto found = findingsOf(testName());
  ASSERT_EQ(found.size(), 1u);
  const wire::Finding& finding = *found[0];
  EXPECT_EQ(finding.rule, Rule::RaceGlobal);
  EXPECT_EQ(finding.nearness, wire::Nearness::Grid);
  EXPECT_EQ(finding.access[0].block[0], 1u);
  EXPECT_EQ(finding.access[1].block[0], 0u);
  EXPECT_EQ(finding.access[0].before, 7u);
  EXPECT_EQ(finding.access[0].after, 8u);
  EXPECT_EQ(finding.access[1].after, 7u);
  EXPECT_TRUE(finding.flags & wire::SawDifferentValue);
}

TEST(Races, SameValueIsMarked) {
  int* c = zeroedArray<int>(1);
  run(testName(), {{4}, {32}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device(thread).write(c, 1, 2);
    co_return;
  });
  for (const auto* finding : findingsOf(testName())) {
    EXPECT_TRUE(finding->flags & wire::SameValue);
    EXPECT_FALSE(finding->flags & wire::SawDifferentValue);
  }
}

TEST(Races, SameValueHidesNoReader) {
  int* c = zeroedArray<int>(1);
  const OneOrder order;
  run(testName(), {{2}, {32}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.x() == 0) device.write(c, 1, 1 + device.block());
    if (device.block() == 1) co_return;
    co_await device.barrier();
    device.read(c, 3);
  });
  auto found = findingsOf(testName());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0]->flags & wire::SameValue);
  EXPECT_EQ(found[1]->access[0].site, 2u); // the second block's write
  EXPECT_EQ(found[1]->access[1].site, 3u); // and the first one's read
}

TEST(Races, WhatAThreadWritesOverItselfIsNotForgotten) {
  int* c = zeroedArray<int>(1);
  auto* b = reinterpret_cast<std::uint8_t*>(zeroedArray<int>(1));
  run(testName(), {{2}, {1}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    const bool isFirst = device.block() == 0;
    if (isFirst) device.write(c, 3, 1);
    device.write(c, 7, 2);
    if (isFirst) device.write(b + 1, std::uint8_t{5}, 3);
    if (isFirst) device.write(b + 2, std::uint8_t{7}, 4);
    device.write(b + 1, std::uint8_t{7}, 5);
    device.write(b + 2, std::uint8_t{7}, 6);
    co_return;
  });
  auto isOf = [](const wire::Finding* finding, std::uint32_t later, std::uint32_t earlier) {
    return finding->access[0].site == later && finding->access[1].site == earlier;
  };
  auto found = findingsOf(testName());
  const bool differs = std::ranges::any_of(found, [&](const auto* finding) {
    return isOf(finding, 2, 1) && finding->access[1].after == 3 && finding->flags & wire::SawDifferentValue;
  });
  const bool byteDiffers = std::ranges::any_of(found, [&](const auto* finding) {
    return isOf(finding, 5, 3) && finding->access[1].after == 5 && finding->flags & wire::SawDifferentValue;
  });
  const bool bytesAreApart = std::ranges::none_of(found, [&](const auto* finding) {
    return finding->access[0].site == 6 && finding->flags & wire::SawDifferentValue;
  });
  EXPECT_TRUE(differs);
  EXPECT_TRUE(byteDiffers);
  EXPECT_TRUE(bytesAreApart);
}

TEST(Races, LargeValuesAreComparedAsAWhole) {
  struct alignas(16) Four {
    int part[4];
  };
  Four* c = zeroedArray<Four>(1);
  run(testName(), {{2}, {1}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    device.write(c, Four{{1, 2, 3, int(device.block())}}, 1);
    co_return;
  });
  auto found = findingsOf(testName());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0]->flags & wire::SawDifferentValue);
}

TEST(Races, AtomicCounterIsFine) {
  int* c = zeroedArray<int>(1);
  run(testName(), {{64}, {64}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device(thread).atomicAdd(c, 1, 1);
    co_return;
  });
  EXPECT_THAT(findingsOf(testName()), IsEmpty());
  EXPECT_EQ(*c, 4096);
}

TEST(Races, AtomicAgainstPlain) {
  int* c = zeroedArray<int>(1);
  run(testName(), {{4}, {32}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    device.atomicAdd(c, 1, 1);
    device.read(c, 2);
    co_return;
  });
  auto found = findingsOf(testName());
  ASSERT_FALSE(found.empty());
  for (const auto* finding : found) EXPECT_EQ(finding->access[0].site + finding->access[1].site, 3u);
}

TEST(Races, VectorAddIsCleanAndItsTwinLeavesTheArray) {
  constexpr int n = 1000;
  auto *a = zeroedArray<double>(n), *b = zeroedArray<double>(n), *z = deviceArray<double>(n);
  for (bool guarded : {true, false}) {
    std::string name = testName() + (guarded ? "" : "Unguarded");
    run(name, {{8}, {128}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
      Device device(thread);
      std::uint32_t i = device.global();
      if (guarded && i >= n) co_return;
      device.write(z + i, device.read(a + i, 1) + device.read(b + i, 2), 3);
    });
    auto found = findingsOf(name);
    if (guarded) {
      EXPECT_THAT(found, IsEmpty());
      continue;
    }
    ASSERT_EQ(found.size(), 3u);
    for (const auto* finding : found) {
      EXPECT_EQ(finding->rule, Rule::OutOfBounds);
      EXPECT_EQ(finding->count, 24u);
      EXPECT_EQ(finding->memory.size, 8000u);
      EXPECT_EQ(finding->memory.offset, 8000);
      EXPECT_EQ(finding->access[0].thread[0], 104u);
    }
  }
}

TEST(Races, SwapThroughSharedMemory) {
  int* out = deviceArray<int>(4);
  for (bool synchronised : {true, false}) {
    std::string name = testName() + (synchronised ? "" : "NoBarrier");
    run(name, {{1}, {4}, 16, kPlain}, [=](ThreadContext* thread) -> Task {
      Device device(thread);
      int* s = device.shared<int>();
      device.write(s + device.x(), int(device.x()), 1);
      if (synchronised) co_await device.barrier();
      device.write(out + device.x(), device.read(s + 3 - device.x(), 2), 3);
    });
    if (synchronised) {
      EXPECT_THAT(findingsOf(name), IsEmpty());
      EXPECT_THAT(std::vector<int>(out, out + 4), ElementsAre(3, 2, 1, 0));
    } else {
      // Threads 0 and 1 read what nobody has written yet, which is the race and nothing else.
      EXPECT_THAT(rulesOf(name), ElementsAre(Rule::RaceWarp));
    }
  }
}

TEST(Races, TileReuseNeedsTheTrailingBarrier) {
  int* out = deviceArray<int>(256);
  for (bool trailing : {true, false}) {
    std::string name = testName() + (trailing ? "" : "Missing");
    run(name, {{2}, {128}, 512, kPlain}, [=](ThreadContext* thread) -> Task {
      Device device(thread);
      int* s = device.shared<int>();
      int sum = 0;
      for (int tile = 0; tile < 3; ++tile) {
        device.write(s + device.x(), tile, 1);
        co_await device.barrier();
        for (int i = 0; i < 128; ++i) sum += device.read(s + i, 2);
        if (trailing) co_await device.barrier(904);
      }
      device.write(out + device.global(), sum, 3);
    });
    if (trailing)
      EXPECT_THAT(findingsOf(name), IsEmpty());
    else
      EXPECT_THAT(rulesOf(name), testing::Contains(Rule::RaceShared));
  }
}

TEST(Races, NeighbouringBytesAreNoRace) {
  auto* bytes = zeroedArray<char>(64);
  auto* halves = zeroedArray<short>(64);
  run(testName(), {{2}, {32}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    device.write(bytes + device.global(), char(1), 1);
    device.write(halves + device.global(), short(1), 2);
    co_await device.barrier();
    device.read(bytes + device.global(), 3);
  });
  EXPECT_THAT(findingsOf(testName()), IsEmpty());
}

TEST(Races, OverlappingBytesAre) {
  auto* bytes = zeroedArray<char>(64);
  run(testName(), {{1}, {64}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    if (device.x() == 0) device.write(reinterpret_cast<int*>(bytes + 4), 1, 1);
    if (device.x() == 40) device.write(bytes + 6, char(1), 2);
    if (device.x() == 50) device.write(bytes + 9, char(1), 3);
    co_return;
  });
  auto found = findingsOf(testName());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->access[0].thread[0], 40u);
  EXPECT_EQ(found[0]->access[1].thread[0], 0u);
}

TEST(Races, ReadersOfAllBlocksThenAWriter) {
  int* x = zeroedArray<int>(1);
  run(testName(), {{3}, {32}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    device.read(x, 1);
    co_await device.barrier();
    if (device.block() == 2 && device.x() == 0) device.write(x, 1, 2);
  });
  auto found = findingsOf(testName());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->rule, Rule::RaceGlobal);
}

TEST(Races, OneBlockReadsThenWritesAfterItsBarrier) {
  int* x = zeroedArray<int>(3);
  run(testName(), {{3}, {64}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    device.read(x + device.block(), 1);
    co_await device.barrier();
    if (device.x() == 0) device.write(x + device.block(), 1, 2);
  });
  EXPECT_THAT(findingsOf(testName()), IsEmpty());
}

TEST(Races, LaunchesOfAStreamAreOrdered) {
  int* x = zeroedArray<int>(64);
  for (int i = 0; i < 3; ++i)
    run(testName(), {{1}, {64}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
      Device device(thread);
      device.write(x + 63 - device.x(), 1, 1);
      co_return;
    });
  EXPECT_THAT(findingsOf(testName()), IsEmpty());
}

TEST(Memory, ByteExactEnds) {
  auto* text = static_cast<char*>(runtime::allocate(13, runtime::MemoryKind::Device, nullptr));
  run(testName(), {{1}, {15}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    device.write(text + device.x(), 'a', 1);
    co_return;
  });
  auto found = findingsOf(testName());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->rule, Rule::OutOfBounds);
  EXPECT_EQ(found[0]->count, 2u);
  EXPECT_EQ(found[0]->memory.offset, 13);
  EXPECT_EQ(runtime::firstUnwritten(text, 13), 13u);
}

TEST(Memory, UseAfterFreeAndMisaligned) {
  int* gone = zeroedArray<int>(8);
  auto* odd = zeroedArray<char>(16);
  ASSERT_EQ(runtime::release(gone, runtime::MemoryKind::Device, nullptr), runtime::FreeResult::Ok);
  EXPECT_EQ(runtime::release(gone, runtime::MemoryKind::Device, nullptr), runtime::FreeResult::AlreadyFreed);
  run(testName(), {{1}, {1}, 0, kPlain}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    device.read(gone + 3, 1);
    kcRead(thread, odd + 2, 4, 2);
    co_return;
  });
  EXPECT_THAT(rulesOf(testName()), UnorderedElementsAre(Rule::UseAfterFree, Rule::Misaligned));
}

TEST(Memory, UnwrittenGlobalAndSharedReads) {
  int* x = deviceArray<int>(64);
  int* y = deviceArray<int>(64);
  run(testName(), {{2}, {32}, 256, kPlain}, [=](ThreadContext* thread) -> Task {
    Device device(thread);
    device.read(x + device.global(), 1);
    int* s = device.shared<int>();
    if (device.block() == 0) device.write(s + device.x(), 1, 2);
    device.read(s + device.x(), 3); // in block 1 what block 0 has left there
    device.write(y + device.global(), 0, 4);
    device.read(y + device.global(), 5);
    co_return;
  });
  auto found = findingsOf(testName());
  ASSERT_EQ(found.size(), 2u);
  for (const auto* finding : found) EXPECT_EQ(finding->rule, Rule::UninitializedRead);
  EXPECT_EQ(found[0]->count + found[1]->count, 64u + 32u);
}

TEST(Memory, FirstUnwrittenByte) {
  auto* x = deviceArray<int>(100);
  EXPECT_EQ(runtime::firstUnwritten(x, 400), 0u);
  runtime::markWrittenByHost(x, 10, 0);
  EXPECT_EQ(runtime::firstUnwritten(x, 400), 10u);
  runtime::markWrittenByHost(reinterpret_cast<char*>(x) + 10, 390, 0);
  EXPECT_EQ(runtime::firstUnwritten(x, 400), 400u);
  auto* y = deviceArray<int>(100);
  auto* z = deviceArray<int>(100);
  runtime::markWrittenByHost(y, 200, 0);
  runtime::copyShadow(z, y, 400, 0);
  EXPECT_EQ(runtime::firstUnwritten(z, 400), 200u);
}

TEST(Memory, FindsTheNearestAllocation) {
  auto* a = deviceArray<char>(300);
  auto* b = deviceArray<char>(300);
  EXPECT_EQ(runtime::find(a + 299)->base, a);
  EXPECT_EQ(runtime::find(a + 310)->base, a);
  EXPECT_EQ(runtime::find(b - 2)->base, b);
  int host = 0;
  EXPECT_EQ(runtime::find(&host), nullptr);
  EXPECT_FALSE(runtime::isDeviceAddress(&host));
  EXPECT_EQ(runtime::release(a + 4, runtime::MemoryKind::Device, nullptr), runtime::FreeResult::NotTheStart);
  EXPECT_EQ(runtime::release(&host, runtime::MemoryKind::Device, nullptr),
            runtime::FreeResult::NotAnAllocation);
}

} // namespace
} // namespace kcheck::test
