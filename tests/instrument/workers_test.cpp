// Two workers say exactly what one says: whole programs, wrong and right ones, are built once and run with
// each, and every finding with its values and counts and every metric must agree. The second worker takes
// part from the first warp on.
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

/// Most kernels of these two have fences, which the second worker takes no part in: every fourth program.
bool isSampled(const std::string& folder) { return folder == "fixtures/hb" || folder == "fixtures/host"; }

std::vector<std::string> programs() {
  std::vector<std::string> files;
  for (const char* folder :
       {"fixtures", "fixtures/graph", "fixtures/hb", "fixtures/host", "kernels", "tests/instrument/rows"}) {
    std::vector<std::string> here;
    for (const auto& entry :
         std::filesystem::directory_iterator(fmt::format("{}/{}", KCHECK_SOURCE_DIR, folder)))
      if (entry.path().extension() == ".cu" && hasMain(entry.path().string()))
        here.push_back(entry.path().string());
    std::sort(here.begin(), here.end());
    for (std::size_t i = 0; i < here.size(); i += isSampled(folder) ? 4 : 1) files.push_back(here[i]);
  }
  return files;
}

class Workers : public testing::TestWithParam<std::string> {};

TEST_P(Workers, OfTwoSayTheSame) {
  frontend::Options compiling;
  compiling.files = {GetParam()};
  auto program = frontend::compile(compiling);
  if (!program) GTEST_SKIP() << program.error().message; // its own test says more
  std::vector<std::string> lines[2];
  for (unsigned jobs : {1, 2}) {
    Options options;
    options.jobs = jobs;
    options.eager = true;
    options.timeoutSeconds = 60;
    auto seen = checkRun(*program->device, program->hostObjects, program->facts, options);
    ASSERT_TRUE(seen) << seen.error().message;
    lines[jobs - 1] = linesOf(*seen, true);
    lines[jobs - 1].push_back(fmt::format("ends with {} {}", seen->run.exitStatus, seen->run.signal));
    std::sort(lines[jobs - 1].begin(), lines[jobs - 1].end());
  }
  EXPECT_EQ(onlyIn(lines[1], lines[0]), "") << "said by two workers alone";
  EXPECT_EQ(onlyIn(lines[0], lines[1]), "") << "said by one worker alone";
}

INSTANTIATE_TEST_SUITE_P(Files, Workers, testing::ValuesIn(programs()), [](const auto& info) {
  const std::filesystem::path path(info.param);
  return path.parent_path().stem().string() + "_" + path.stem().string();
});

} // namespace
} // namespace kcheck::instrument
