// Checks that wait for the warp say exactly what checks on the spot say: whole programs, wrong and right
// ones, are run both ways, and every finding with its values and counts and every metric must agree.
#include "frontend/frontend.h"
#include "observed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <filesystem>

namespace kcheck::instrument {
namespace {

/// For the reasons in docs/performance.md.
bool isKnownToDiffer(const std::string& name) {
  return name == "bubblesort" || name == "bubblesort_32threads" || name == "lifetimes_hostpointer" ||
         name == "vector_views" || name == "host_functions";
}

/// By its name, so that a new file changes nothing for the others.
bool isDrawn(const std::filesystem::path& path) {
  const std::string name = path.stem().string();
  if (isKnownToDiffer(name)) return false;
  unsigned sum = 0;
  for (char letter : name) sum = 31 * sum + static_cast<unsigned char>(letter);
  return sum % 6 == 0;
}

/// Every sixth program of the two folders, so that the test takes seconds, and those made for the rows.
std::vector<std::string> programs() {
  std::vector<std::string> files, some;
  for (const char* folder : {"/fixtures", "/kernels"})
    for (const auto& entry : std::filesystem::directory_iterator(std::string(KCHECK_SOURCE_DIR) + folder))
      if (entry.path().extension() == ".cu" && hasMain(entry.path().string()))
        files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files)
    if (isDrawn(file)) some.push_back(file);
  for (const char* own : {"blocks", "bytes", "distances", "lines", "quiet", "quiet_fenced", "scattered",
                          "series", "shares", "turns"})
    some.push_back(fmt::format("{}/tests/instrument/rows/{}.cu", KCHECK_SOURCE_DIR, own));
  return some;
}

class Deferred : public testing::TestWithParam<std::string> {};

TEST_P(Deferred, SaysTheSameAsChecksOnTheSpot) {
  frontend::Options compiling;
  compiling.files = {GetParam()};
  auto program = frontend::compile(compiling);
  ASSERT_TRUE(program) << program.error().message;
  std::vector<std::string> lines[2];
  for (bool deferred : {false, true}) {
    Options options;
    options.deferred = deferred;
    options.twice = false; // only checks on the spot can be repeated
    auto seen = checkRun(*program->device, program->hostObjects, program->facts, options);
    ASSERT_TRUE(seen) << seen.error().message;
    lines[deferred] = linesOf(*seen, false);
  }
  EXPECT_EQ(onlyIn(lines[1], lines[0]), "") << "said by checks that wait alone";
  EXPECT_EQ(onlyIn(lines[0], lines[1]), "") << "said by checks on the spot alone";
}

INSTANTIATE_TEST_SUITE_P(Files, Deferred, testing::ValuesIn(programs()),
                         [](const auto& info) { return std::filesystem::path(info.param).stem().string(); });

} // namespace
} // namespace kcheck::instrument
