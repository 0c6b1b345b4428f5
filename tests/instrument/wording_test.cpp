// Memory's content, barriers and masks in words.
#include "instrument/pass/wording/parts.h"
#include "instrument/pass/wording/values.h"
#include "instrument/pass/wording/wording.h"

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
