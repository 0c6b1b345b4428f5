// Several threads that run the blocks of each launch together say exactly what one says: whole programs,
// wrong and right ones, are built once and run with one and with three, and every finding with its values and
// counts, every metric and how the program ends must agree. Launches of two blocks are shared as well.
#include "frontend/frontend.h"
#include "observed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

namespace kcheck::instrument {
namespace {

/// Most kernels of these two have fences, and are left to one thread: every fourth program.
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

/// How many launches of a program must have been shared: all but those that are wrong, use tickets or have
/// one block. Of most programs it is not known here.
std::optional<unsigned> sharedLaunches(const std::string& path) {
  const std::map<std::string, unsigned> known{{"shares", 11},          {"offset_copy", 4}, {"histogram", 1},
                                              {"transpose_padded", 2}, {"spin_lock", 0},   {"faults", 0},
                                              {"host_threads", 1}};
  auto place = known.find(std::filesystem::path(path).stem().string());
  return place == known.end() ? std::nullopt : std::optional(place->second);
}

class Workers : public testing::TestWithParam<std::string> {};

TEST_P(Workers, TogetherSayWhatOneSays) {
  frontend::Options compiling;
  compiling.files = {GetParam()};
  auto program = frontend::compile(compiling);
  if (!program) GTEST_SKIP() << program.error().message; // its own test says more
  std::vector<std::string> ofOne, ofAll;
  for (unsigned jobs : {1, 3}) {
    Options options;
    options.jobs = jobs;
    options.eager = true;
    options.timeoutSeconds = 60;
    auto seen = checkRun(*program->device, program->hostObjects, program->facts, options);
    ASSERT_TRUE(seen) << seen.error().message;
    std::vector<std::string>& lines = jobs == 1 ? ofOne : ofAll;
    lines = linesOf(*seen, true);
    lines.push_back(fmt::format("ends with {} {}", seen->run.exitStatus, seen->run.signal));
    std::ranges::sort(lines);
    if (jobs == 1)
      EXPECT_EQ(seen->sharedLaunches, 0);
    else if (auto wanted = sharedLaunches(GetParam()))
      EXPECT_EQ(seen->sharedLaunches, *wanted) << "of " << seen->run.kernelsLaunched;
  }
  EXPECT_EQ(onlyIn(ofAll, ofOne), "") << "said by several threads alone";
  EXPECT_EQ(onlyIn(ofOne, ofAll), "") << "said by one thread alone";
}

INSTANTIATE_TEST_SUITE_P(Files, Workers, testing::ValuesIn(programs()), [](const auto& info) {
  const std::filesystem::path path(info.param);
  return path.parent_path().stem().string() + "_" + path.stem().string();
});

} // namespace
} // namespace kcheck::instrument
