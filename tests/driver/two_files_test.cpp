// A program of two files that share device functions and variables goes the whole way, both passes included.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>

namespace {

namespace fs = std::filesystem;

int check(const std::string& count, std::string& report) {
  const fs::path out = fs::path(testing::TempDir()) / ("two_files_" + std::to_string(count.size()) + ".txt");
  const std::string folder = KCHECK_SOURCE_DIR "/tests/driver/programs/two_files/";
  const int status = std::system((KCHECK_PROGRAM " '-DCOUNT=" + count + "' -o '" + out.string() + "' '" +
                                  folder + "main.cu' '" + folder + "lib.cu' > /dev/null 2>&1")
                                     .c_str());
  std::ifstream stream(out);
  report.assign(std::istreambuf_iterator<char>(stream), {});
  fs::remove(out);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(TwoFiles, AreOneProgram) {
  std::string report;
  EXPECT_EQ(check("atomicAdd(&counter, 1)", report), 0) << report;
  EXPECT_THAT(report, testing::HasSubstr("no findings in 2 kernels"));
  EXPECT_EQ(check("++counter", report), 1) << report;
  EXPECT_THAT(report, testing::HasSubstr("lib.cu:14:35: error: threads update `counter` without ordering"));
}

} // namespace
