// The table of docs/versus.md, from rows made by hand.
#include "gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kcheck::expectations {
namespace {

using testing::HasSubstr;

TEST(SanitizerOutput, IsCounted) {
  EXPECT_EQ(reportedBy("========= ERROR SUMMARY: 24 errors\n"), 24u);
  EXPECT_EQ(reportedBy("========= LEAK SUMMARY: 4 bytes\n========= ERROR SUMMARY: 1 error\n"), 1u);
  EXPECT_EQ(reportedBy("========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n"), 2u);
  EXPECT_EQ(reportedBy("========= ERROR SUMMARY: 0 errors\n"), 0u);
  EXPECT_EQ(reportedBy("Unable to find injection library\n"), std::nullopt);
}

GpuRow row(const std::string& file, const std::string& rules, const std::string& racecheck) {
  return {file, rules, "right", {{"memcheck", "clean"}, {"racecheck", racecheck}}};
}

TEST(GpuRows, SurviveAFile) {
  auto back = fromLine(toLine(row("a.cu", "race-shared leak", "2 errors"))
                           .substr(0, toLine(row("a.cu", "race-shared leak", "2 errors")).size() - 1));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->rules, "race-shared leak");
  EXPECT_EQ(back->tools["racecheck"], "2 errors");
  EXPECT_EQ(back->tools["synccheck"], "not run");
  EXPECT_FALSE(fromLine("half a row\t-"));
}

TEST(GpuTable, CountsWhatEachToolReports) {
  std::string table = tableOf({row("b.cu", "race-shared", "2 errors"),
                               row("a.cu", "race-shared leak", "clean"), row("c.cu", "-", "hangs")});
  EXPECT_THAT(table, HasSubstr("| `race-shared` | 2 | 0 | 1 | 0 | 0 |\n"));
  EXPECT_THAT(table, HasSubstr("| `leak` | 1 | 0 | 0 | 0 | 0 |\n"));
  EXPECT_THAT(table, HasSubstr("| no mistake | 1 | 0 | 0 | 0 | 0 |\n"));
  EXPECT_THAT(table, HasSubstr("| a.cu: race-shared leak | right | clean | clean | not run | not run |\n"
                               "| b.cu: race-shared | right | clean | 2 errors | not run | not run |\n"));
}

} // namespace
} // namespace kcheck::expectations
