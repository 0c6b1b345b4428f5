// Whole CUDA programs on the virtual device: each file of programs/ checks its own results and prints PASS. A
// program may say in comments what the report must contain (`// expect-report: TEXT`), or that it ends
// otherwise (`// expect-status: N`). Those of toolkit_programs/ include headers that only the CUDA toolkit
// has (libcu++, CUB, Thrust, mma.h, cuBLAS), and are skipped without it; `needs: libblas` skips where no BLAS
// is.
#include <array>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace {

std::vector<std::string> programsIn(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(KCHECK_SOURCE_DIR "/tests/runtime_api/" + folder))
    if (entry.path().extension() == ".cu") files.push_back(entry.path().stem());
  std::sort(files.begin(), files.end());
  return files;
}

class Programs : public testing::TestWithParam<std::string> {};
class ToolkitPrograms : public testing::TestWithParam<std::string> {};

/// The texts behind `marker` in a file's comments.
std::vector<std::string> marked(const std::string& file, const std::string& marker) {
  std::vector<std::string> texts;
  std::ifstream source(file);
  for (std::string line; std::getline(source, line);)
    if (std::size_t at = line.find(marker); at != std::string::npos)
      texts.push_back(line.substr(at + marker.size()));
  return texts;
}

/// Runs it and holds its output to what the file says.
void check(const std::string& name) {
  std::string file = KCHECK_SOURCE_DIR "/tests/runtime_api/" + name + ".cu";
  std::string command =
      std::string(KCHECK_PROGRAM) + " --run --checks=all,-perf --timeout=60 '" + file + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_TRUE(pipe);
  std::string output;
  std::array<char, 4096> buffer;
  while (std::size_t bytes = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), bytes);
  int status = pclose(pipe);
  ASSERT_TRUE(WIFEXITED(status)) << output;
  std::vector<std::string> wanted = marked(file, "// expect-status: ");
  EXPECT_EQ(WEXITSTATUS(status), wanted.empty() ? 0 : std::stoi(wanted.front())) << output;
  EXPECT_THAT(output, testing::HasSubstr("PASS"));
  EXPECT_THAT(output, testing::Not(testing::HasSubstr("FAIL")));
  for (const std::string& text : marked(file, "// expect-report: "))
    EXPECT_THAT(output, testing::HasSubstr(text));
}

TEST_P(Programs, PassesItsOwnChecks) { check("programs/" + GetParam()); }

TEST_P(ToolkitPrograms, PassesItsOwnChecks) {
#ifndef KCHECK_CUDA_INCLUDE
  GTEST_SKIP() << "no CUDA toolkit";
#endif
  std::string file = KCHECK_SOURCE_DIR "/tests/runtime_api/toolkit_programs/" + GetParam() + ".cu";
  for (const std::string& library : marked(file, "needs: "))
    if (library == "libblas" && !dlopen("libblas.so.3", RTLD_NOW) && !dlopen("libopenblas.so.0", RTLD_NOW))
      GTEST_SKIP() << "no BLAS library (libblas3)";
  check("toolkit_programs/" + GetParam());
}

INSTANTIATE_TEST_SUITE_P(Files, Programs, testing::ValuesIn(programsIn("programs")),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Files, ToolkitPrograms, testing::ValuesIn(programsIn("toolkit_programs")),
                         [](const auto& info) { return info.param; });

} // namespace
