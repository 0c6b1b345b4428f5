// Programs of two files go the whole way, both passes included.
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

/// Of main.cu and `other` in the folder.
int check(const std::string& folder, const std::string& other, const std::string& option,
          std::string& report) {
  const fs::path out = fs::path(testing::TempDir()) / (folder + std::to_string(option.size()) + ".txt");
  const std::string from = KCHECK_SOURCE_DIR "/tests/driver/programs/" + folder + "/";
  const int status = std::system((KCHECK_PROGRAM " '" + option + "' -o '" + out.string() + "' '" + from +
                                  "main.cu' '" + from + other + "' > /dev/null 2>&1")
                                     .c_str());
  std::ifstream stream(out);
  report.assign(std::istreambuf_iterator<char>(stream), {});
  fs::remove(out);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(TwoFiles, AreOneProgram) {
  std::string report;
  EXPECT_EQ(check("two_files", "lib.cu", "-DCOUNT=atomicAdd(&counter, 1)", report), 0) << report;
  EXPECT_THAT(report, testing::HasSubstr("no findings in 2 kernels"));
  EXPECT_EQ(check("two_files", "lib.cu", "-DCOUNT=++counter", report), 1) << report;
  EXPECT_THAT(report, testing::HasSubstr("lib.cu:14:35: error: threads update `counter` without ordering"));
}

TEST(TwoFiles, MayEachHaveAKernelOfOneName) {
  std::string report;
  EXPECT_EQ(check("same_name", "other.cu", "--jobs=2", report), 1) << report;
  EXPECT_THAT(report, testing::HasSubstr("other.cu:1:39: error: threads update `a[0]` without ordering"));
  EXPECT_THAT(report, testing::ContainsRegex("fill\\(int \\*\\) in main.cu +1 x 64 +proved"));
  EXPECT_THAT(report, testing::ContainsRegex("fill\\(int \\*\\) in other.cu +1 x 64 +refuted"));
  EXPECT_THAT(report, testing::Not(testing::HasSubstr("internal error")));
}

} // namespace
