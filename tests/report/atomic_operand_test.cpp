#include "report/atomic_operand.h"

#include <gtest/gtest.h>

namespace kcheck::test {
namespace {

TEST(AtomicOperand, IsWhatOneWouldWrite) {
  EXPECT_EQ(atomicOperand("c[0]"), "&c[0]");
  EXPECT_EQ(atomicOperand("total"), "&total");
  EXPECT_EQ(atomicOperand("*x"), "x");
  EXPECT_EQ(atomicOperand("*(x + 1)"), "(x + 1)");
  EXPECT_EQ(atomicOperand("*x++"), "&*x++");
}

} // namespace
} // namespace kcheck::test
