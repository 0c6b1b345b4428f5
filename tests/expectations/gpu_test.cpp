// On a machine with a GPU: every whole program of kernels/ and fixtures/, built by nvcc, runs on it and under
// the four tools of compute-sanitizer. Right programs must be right there; what each tool reports becomes the
// table of docs/versus.md, which the last case writes to gpu/versus.md in the build folder. Skipped where
// there is no GPU.
#include "child.h"
#include "expectation.h"
#include "gpu.h"
#include "machine.h"
#include "report/rules.h"
#include "source_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <set>

namespace kcheck::expectations {
namespace {

namespace fs = std::filesystem;

const fs::path root = KCHECK_SOURCE_DIR;
const fs::path results = KCHECK_GPU_RESULTS;
constexpr double kCompileSeconds = 120, kProgramSeconds = 20, kToolSeconds = 30;

/// Files that are programs by themselves: launch lines are kcheck's own. Without a GPU one case stands for
/// all, and is skipped.
std::vector<std::string> programs() {
  if (!fs::exists("/dev/nvidiactl")) return {"no_gpu_on_this_machine.cu"};
  std::vector<std::string> files;
  for (const char* folder : {"kernels", "fixtures"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".cu" && contentOf(entry.path()).find("int main(") != std::string::npos)
        files.push_back(fs::relative(entry.path(), root).string());
  std::ranges::sort(files);
  return files;
}

std::string plainName(const std::string& file) {
  std::string name = file.substr(0, file.size() - 3);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

std::string rulesIn(const std::string& file) {
  std::set<std::string> rules;
  for (const ExpectedFinding& finding : parse(contentOf(root / file)).findings)
    if (finding.from != From::Later) rules.insert(finding.rule);
  std::string text;
  for (const std::string& rule : rules) text += (text.empty() ? "" : " ") + rule;
  return text.empty() ? "-" : text;
}

/// Nothing that kcheck must report of it is more than waste: its result is right.
bool isRight(const std::string& file) {
  return std::ranges::all_of(parse(contentOf(root / file)).findings, [](const ExpectedFinding& finding) {
    const Rule* rule = findRule(finding.rule);
    return finding.from == From::Later ||
           (rule && (rule->group == RuleGroup::Perf || rule->group == RuleGroup::Host));
  });
}

std::string underTool(const std::string& sanitizer, const std::string& tool, const std::string& program) {
  std::vector<std::string> command{sanitizer, "--tool", tool};
  if (tool == "memcheck") command.insert(command.end(), {"--leak-check", "full"});
  command.push_back(program);
  ChildResult child = runChild(command, kToolSeconds);
  if (child.timedOut) return "hangs";
  auto count = reportedBy(child.output);
  if (!count) return "failed";
  return *count == 0 ? "clean" : fmt::format("{} error{}", *count, *count == 1 ? "" : "s");
}

class Gpu : public testing::TestWithParam<std::string> {};

TEST_P(Gpu, RunsThere) {
  if (gpuName().empty()) GTEST_SKIP() << "no GPU on this machine";
  const std::string nvcc = findNvcc(), sanitizer = findComputeSanitizer();
  if (nvcc.empty()) GTEST_SKIP() << "no nvcc on this machine";
  fs::create_directories(results);
  const fs::path program = results / plainName(GetParam());
  std::vector<std::string> compiler{nvcc,
                                    "-arch=native",
                                    "-std=c++17",
                                    "-lineinfo",
                                    "-I",
                                    (root / "include").string(),
                                    "-o",
                                    program.string(),
                                    (root / GetParam()).string()};
  for (const char* library : {"-lcublas", "-lcufft", "-lcurand"}) // which the file's own options name
    if (contentOf(root / GetParam()).find(library) != std::string::npos) compiler.push_back(library);
  ChildResult built = runChild(compiler, kCompileSeconds);
  ASSERT_EQ(built.status, 0) << built.output;

  GpuRow row{GetParam(), rulesIn(GetParam()), "", {}};
  ChildResult run = runChild({program.string()}, kProgramSeconds);
  row.result = run.timedOut ? "hangs" : run.status == 0 ? "right" : "wrong";
  if (!sanitizer.empty())
    for (const std::string& tool : kSanitizerTools)
      row.tools[tool] = underTool(sanitizer, tool, program.string());
  std::ofstream(results / (plainName(GetParam()) + ".row")) << toLine(row);
  fs::remove(program);
  if (isRight(GetParam())) EXPECT_EQ(row.result, "right") << run.output;
  if (sanitizer.empty()) GTEST_SKIP() << row.result << " on the GPU; no compute-sanitizer on this machine";
}

INSTANTIATE_TEST_SUITE_P(Files, Gpu, testing::ValuesIn(programs()),
                         [](const auto& info) { return plainName(info.param); });

TEST(GpuSummary, IsWritten) {
  std::string gpu = gpuName();
  if (gpu.empty()) GTEST_SKIP() << "no GPU on this machine: docs/versus.md keeps the last table";
  std::vector<GpuRow> rows;
  for (const auto& entry : fs::directory_iterator(results)) {
    if (entry.path().extension() != ".row") continue;
    std::string line = contentOf(entry.path());
    if (!line.empty()) line.pop_back();
    if (auto row = fromLine(line)) rows.push_back(*row);
  }
  ASSERT_FALSE(rows.empty()) << "no program was run";
  std::time_t now = std::time(nullptr);
  char date[16];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::localtime(&now));
  std::string table = fmt::format("{} programs, {}, {}.\n\n{}", rows.size(), gpu, date, tableOf(rows));
  std::ofstream(results / "versus.md") << table;
  std::cout << table;
}

} // namespace
} // namespace kcheck::expectations
