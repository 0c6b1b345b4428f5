// fixtures/sanitizer holds what the guide of NVIDIA's compute-sanitizer shows, written anew. The guide says
// which threads its tools name and how often; docs/versus.md has the table, and this holds kcheck to it.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string reportOf(const std::string& name) {
  fs::path out = fs::path(testing::TempDir()) / ("sanitizer_" + name + ".txt");
  std::string command = KCHECK_PROGRAM " -o '" + out.string() +
                        "' '" KCHECK_SOURCE_DIR "/fixtures/sanitizer/" + name + ".cu' > /dev/null 2>&1";
  if (std::system(command.c_str()) < 0) return "";
  std::ifstream stream(out);
  std::string report(std::istreambuf_iterator<char>(stream), {});
  fs::remove(out);
  return report;
}

int errorsIn(const std::string& report) {
  int count = 0;
  for (std::size_t at = 0; (at = report.find(": error: ", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(Sanitizer, memcheckNamesBothWrites) {
  std::string report = reportOf("memcheck_writes");
  EXPECT_EQ(errorsIn(report), 2) << report;
  EXPECT_THAT(report, HasSubstr("write of 4 bytes at an address that is no multiple of 4"));
  EXPECT_THAT(report, HasSubstr("4 bytes at byte 1 of `cell`"));
  EXPECT_THAT(report, HasSubstr("write of 4 bytes at address 0x81234560"));
  EXPECT_THAT(report, HasSubstr("1024 bytes allocated here are never freed"));
}

TEST(Sanitizer, memcheckFindsLeaksOfBothSides) {
  std::string report = reportOf("memcheck_leaks");
  EXPECT_EQ(errorsIn(report), 0) << report;
  EXPECT_THAT(report, HasSubstr("7:22: warning: 128 bytes allocated here are never freed"));
  EXPECT_THAT(report, HasSubstr("17:3: warning: 1024 bytes allocated here are never freed"));
}

TEST(Sanitizer, racecheckFindsOneHazardOfTheBlock) {
  std::string report = reportOf("racecheck_block");
  EXPECT_EQ(errorsIn(report), 1) << report;
  EXPECT_THAT(report, HasSubstr("seen in the run 127 times")); // thread 0 against each other thread
}

TEST(Sanitizer, racecheckFindsOneHazardOfTheWarps) {
  std::string report = reportOf("racecheck_warp");
  EXPECT_EQ(errorsIn(report), 1) << report;
  EXPECT_THAT(report,
              HasSubstr("seen in the run 62 times")); // the first lane of two warps against the other 31
}

TEST(Sanitizer, synccheckCountsWhoWaitsAndWhoMisses) {
  std::string report = reportOf("synccheck_divergent");
  EXPECT_EQ(errorsIn(report), 1) << report;
  EXPECT_THAT(report, HasSubstr("thread (0,0,0) of block (0,0,0) and 47 more wait here"));
  EXPECT_THAT(report, HasSubstr("thread (48,0,0) of block (0,0,0) and 15 more have returned"));
}

TEST(Sanitizer, synccheckNamesTheLaneOutsideOfTheMask) {
  std::string report = reportOf("synccheck_mask");
  EXPECT_EQ(errorsIn(report), 1) << report;
  EXPECT_THAT(report, HasSubstr("thread (16,0,0) of block (0,0,0)"));
}

TEST(Sanitizer, initcheckCountsTheThreadsPastTheMemset) {
  std::string report = reportOf("initcheck_memset");
  EXPECT_EQ(errorsIn(report), 1) << report;
  EXPECT_THAT(report, HasSubstr("thread (64,0,0) of block (0,0,0) reads"));
  EXPECT_THAT(report, HasSubstr("seen in the run 192 times"));
}

} // namespace
