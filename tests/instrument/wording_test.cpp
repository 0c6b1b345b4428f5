// Memory's content, barriers and masks in words.
#include "instrument/pass/wording/parts.h"
#include "instrument/pass/wording/values.h"
#include "instrument/pass/wording/wording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kcheck::instrument {
namespace {

TEST(ValueText, goesByTheType) {
  EXPECT_EQ(valueText(0xe4, 1, ValueType::Unsigned), "228");
  EXPECT_EQ(valueText(0xe4, 1, ValueType::Signed), "-28");
  EXPECT_EQ(valueText(0xffff, 2, ValueType::Unsigned), "65535");
  EXPECT_EQ(valueText(0xffffffff, 4, ValueType::Unsigned), "4294967295");
  EXPECT_EQ(valueText(~0ull, 8, ValueType::Unsigned), "18446744073709551615");
  EXPECT_EQ(valueText(~0ull, 8, ValueType::Signed), "-1");
  EXPECT_EQ(valueText(0x3f800000, 4, ValueType::Real), "1.0");
  EXPECT_EQ(valueText(0x3e00, 2, ValueType::Real), "1.5");
  EXPECT_EQ(valueText(0x4020, 2, ValueType::BrainFloat), "2.5");
}

wire::Finding twoThreads(std::uint64_t first, std::uint64_t second) {
  wire::Finding record{};
  record.accessCount = 2;
  record.access[0].count = record.access[1].count = 64;
  record.numbers[0] = first;
  record.numbers[1] = second;
  return record;
}

TEST(Barrier, numbersAreToldWhereThePlaceIsOne) {
  Finding finding;
  wordBarrier(finding, twoThreads(1, 2), "numbers");
  EXPECT_EQ(finding.message, "64 threads of the block wait at barrier 1 while 64 wait at barrier 2");
  wordBarrier(finding, twoThreads(1, 1), "numbers");
  EXPECT_EQ(finding.message, "64 threads of the block wait at this barrier while 64 wait elsewhere");
}

TEST(Hang, countsWhatABarrierMisses) {
  Finding finding;
  wire::Finding record = twoThreads(128, 32);
  record.access[0].count = 96;
  record.access[0].scope = 1;
  wordHang(finding, record, "arrivals");
  EXPECT_EQ(
      finding.message,
      "no thread can go on: 96 threads poll here, for a barrier that still misses 32 of its 128 arrivals");
  wordHang(finding, twoThreads(0, 0), "");
  EXPECT_EQ(finding.message, "no thread can go on: 64 threads wait here");
  wordHang(finding, twoThreads(1, 0), "");
  EXPECT_EQ(finding.message, "the kernel goes round without an end: 64 threads wait here");
}

/// Of a write in columns 20 to 30 of a line, and a read in the same line.
Finding writeAndRead(unsigned column) {
  Finding finding;
  finding.rule = "race-global";
  finding.kind = RaceKind::ReadWrite;
  finding.accesses.resize(2);
  for (Access& access : finding.accesses) access.expr = "c[i]";
  finding.accesses[0].kind = AccessKind::Write;
  finding.accesses[0].where = {"a.cu", 3, 20, 30};
  finding.accesses[1].where = {"a.cu", 3, column, column + 4};
  wordRace(finding, wire::Finding{});
  return finding;
}

TEST(Race, ofATestBeforeAWriteLosesNoUpdate) {
  EXPECT_EQ(writeAndRead(8).message,
            "threads read `c[i]` and then write it, without ordering: another one may write it in between");
  EXPECT_EQ(writeAndRead(20).message, "threads update `c[i]` without ordering, so updates are lost");
  EXPECT_EQ(writeAndRead(26).message, "threads update `c[i]` without ordering, so updates are lost");
}

TEST(Race, isMendedBySumsOnlyWhereItIsOne) {
  using testing::HasSubstr;
  EXPECT_THAT(writeAndRead(20).hint, HasSubstr("atomicAdd(&c[i], ...)"));
  for (const unsigned column : {8u, 26u}) // `if (c[i] < x) c[i] = x`, `c[i] = max(c[i], x)`
    EXPECT_THAT(writeAndRead(column).hint, HasSubstr("atomicMin or atomicCAS(&c[i], ...)"));
}

TEST(Shuffle, ofALaneIsToldByItsMask) {
  Finding finding;
  wordMask(finding, twoThreads(0x0000ffff, 16), "reads");
  EXPECT_EQ(finding.message, "a shuffle reads the value of lane 16, which its mask 0x0000ffff leaves out");
  wordMask(finding, twoThreads(0xffffffff, 16), "reads");
  EXPECT_EQ(finding.message, "a shuffle reads the value of lane 16, which does not take part");
  wire::Finding returned = twoThreads(0x0000ffff, 16);
  returned.access[1].doing = wire::Doing::Returned;
  wordMask(finding, returned, "reads");
  EXPECT_EQ(finding.message, "a shuffle reads the value of lane 16, which has returned");
}

} // namespace
} // namespace kcheck::instrument
