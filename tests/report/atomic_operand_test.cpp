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

TEST(AtomicUpdate, DoesWhatTheAssignmentDoes) {
  EXPECT_EQ(atomicUpdate("c[0]", ""), "atomicAdd(&c[0], ...)");
  EXPECT_EQ(atomicUpdate("*x", "+"), "atomicAdd(x, ...)");
  EXPECT_EQ(atomicUpdate("*x", "-"), "atomicAdd(x, -...)");
  EXPECT_EQ(atomicUpdate("*x", "^"), "atomicXor(x, ...)");
  EXPECT_EQ(atomicUpdate("*x", "*"), "a loop around atomicCAS(x, ...)");
}

} // namespace
} // namespace kcheck::test
