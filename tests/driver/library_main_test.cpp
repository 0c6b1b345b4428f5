// A suite without a main of its own: that of a library runs it.
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

std::string reportWith(const std::string& libraries) {
  const fs::path out = fs::path(testing::TempDir()) / ("library_main" + std::to_string(libraries.size()));
  const std::string command = KCHECK_PROGRAM " --run -o '" + out.string() +
                              "' '" KCHECK_SOURCE_DIR "/tests/driver/programs/library_main/suite.cu' " +
                              libraries + " > /dev/null 2>'" + out.string() + ".err'";
  if (std::system(command.c_str()) < 0) return "";
  std::string text;
  for (const char* end : {"", ".err"}) {
    std::ifstream stream(out.string() + end);
    text.append(std::istreambuf_iterator<char>(stream), {});
    fs::remove(out.string() + end);
  }
  return text;
}

TEST(LibraryMain, RunsTheSuite) {
  EXPECT_THAT(reportWith("-lgtest -lgtest_main"), HasSubstr("write of 4 bytes right behind the end of `x`"));
}

TEST(LibraryMain, IsNotThereInEveryLibrary) {
  EXPECT_THAT(reportWith("-lgtest"), HasSubstr("no main and no launch line"));
}

} // namespace
