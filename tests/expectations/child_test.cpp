// Starting and ending programs.
#include "child.h"

#include <gtest/gtest.h>

#include <chrono>

namespace kcheck::expectations {
namespace {

TEST(Child, StatusAndOutput) {
  ChildResult result = runChild({"sh", "-c", "echo out; echo err >&2; exit 3"}, 20);
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_FALSE(result.timedOut);
  EXPECT_EQ(runChild({"sh", "-c", "kill -9 $$"}, 20).status, 128 + 9);
  EXPECT_EQ(runChild({"/no/such/program"}, 20).status, 127);
}

TEST(Child, ArgumentsArePassedAsTheyAre) {
  EXPECT_EQ(runChild({"printf", "%s|", "a b", "it's", "\"q\""}, 20).output, "a b|it's|\"q\"|");
}

TEST(Child, IsEndedAtTheLimitWithItsOwnChildren) {
  auto start = std::chrono::steady_clock::now();
  ChildResult result = runChild({"sh", "-c", "sleep 60 & sleep 60"}, 0.2);
  EXPECT_TRUE(result.timedOut);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Child, MuchOutputDoesNotBlock) {
  EXPECT_EQ(runChild({"head", "-c", "3000000", "/dev/zero"}, 60).output.size(), 3000000u);
}

} // namespace
} // namespace kcheck::expectations
