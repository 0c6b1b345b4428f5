// Memory's content in words.
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

} // namespace
} // namespace kcheck::instrument
