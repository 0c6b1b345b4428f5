// What the shape of a launch says.
#include "report/launch_rules.h"
#include "samples.h"

#include <gmock/gmock.h>

namespace kcheck::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Finding> findingsOf(Extent grid, Extent block, std::uint64_t shared = 0) {
  Launch launch;
  launch.kernel = "_Z1kv";
  launch.where = at("k.cu", 3, 5, 20);
  launch.grid = grid;
  launch.block = block;
  launch.sharedBytes = shared;
  return launchFindings({launch}, {}, Verdict::Proved);
}

std::string ruleOf(Extent grid, Extent block, std::uint64_t shared = 0) {
  auto findings = findingsOf(grid, block, shared);
  return findings.empty() ? "" : findings.front().rule;
}

TEST(LaunchRules, LimitsOfEveryDevice) {
  EXPECT_EQ(ruleOf(Dim3{1, 1, 1}, Dim3{1024, 1, 1}), "");
  EXPECT_EQ(ruleOf(Dim3{1, 1, 1}, Dim3{2048, 1, 1}), "invalid-launch");
  EXPECT_EQ(ruleOf(Dim3{1, 1, 1}, Dim3{64, 32, 1}), "invalid-launch");
  EXPECT_EQ(ruleOf(Dim3{1, 1, 1}, Dim3{1, 1, 128}), "invalid-launch");
  EXPECT_EQ(ruleOf(Dim3{0, 1, 1}, Dim3{128, 1, 1}), "invalid-launch");
  EXPECT_EQ(ruleOf(Dim3{1, 65536, 1}, Dim3{128, 1, 1}), "invalid-launch");
  EXPECT_EQ(ruleOf(Dim3{1000000, 1, 1}, Dim3{128, 1, 1}), "");
  EXPECT_EQ(ruleOf(Dim3{1, 1, 1}, Dim3{128, 1, 1}, 100000), ""); // with cudaFuncSetAttribute
  EXPECT_EQ(ruleOf(Dim3{1, 1, 1}, Dim3{128, 1, 1}, 300000), "invalid-launch");
}

TEST(LaunchRules, KnownAxesAreEnough) {
  EXPECT_EQ(ruleOf({}, {2048, 1, 1}), "invalid-launch");
  EXPECT_EQ(ruleOf({{}, 1, 1}, Dim3{4, 1, 1}), "");
  EXPECT_EQ(ruleOf({}, {}), "");
}

TEST(LaunchRules, ShapesThatWaste) {
  EXPECT_EQ(ruleOf(Dim3{1, 1, 1}, Dim3{1, 1, 1}), "launch-shape");
  EXPECT_EQ(ruleOf(Dim3{32, 1, 1}, Dim3{4, 1, 1}), "launch-shape");
  EXPECT_EQ(ruleOf(Dim3{32, 1, 1}, Dim3{100, 1, 1}), "launch-shape");
  EXPECT_EQ(ruleOf(Dim3{32, 1, 1}, Dim3{16, 16, 1}), "");
  const auto severity = [](Dim3 grid, Dim3 block) { return findingsOf(grid, block).front().severity; };
  EXPECT_EQ(severity({1, 1, 1}, {1, 1, 1}), Severity::Warning);
  EXPECT_EQ(severity({32, 1, 1}, {4, 1, 1}), Severity::Warning);
  EXPECT_EQ(severity({4, 1, 1}, {8, 1, 1}), Severity::Note) << "few in all";
  EXPECT_THAT(findingsOf(Dim3{32, 1, 1}, Dim3{4, 1, 1}).front().hint, HasSubstr("exchanged? <<<4, 32>>>"));
  EXPECT_THAT(findingsOf(Dim3{3, 1, 1}, Dim3{4, 1, 1}).front().hint, testing::Not(HasSubstr("exchanged")));
}

TEST(LaunchRules, OneThreadSufficesForWhatIsBrief) {
  Launch launch;
  launch.kernel = "_Z1kv";
  launch.where = at("k.cu", 3, 5, 20);
  launch.grid = launch.block = Dim3{1, 1, 1};
  EXPECT_THAT(launchFindings({launch}, {}, Verdict::Proved, {"_Z1kv"}), IsEmpty());
  launch.grid = Dim3{32, 1, 1}; // 32 warps of one thread each are still a waste
  EXPECT_EQ(launchFindings({launch}, {}, Verdict::Proved, {"_Z1kv"}).size(), 1u);
}

} // namespace
} // namespace kcheck::test
