// Whole programs through front end, pass, runtime and linker: each file of programs/ checks its own results
// against host arithmetic and ends with status 0. Files are found, never listed.
#include "frontend/frontend.h"
#include "instrument/instrument.h"

#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace kcheck::instrument {
namespace {

std::vector<std::string> programs() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(KCHECK_SOURCE_DIR "/tests/instrument/programs"))
    if (entry.path().extension() == ".cu") files.push_back(entry.path().stem().string());
  std::sort(files.begin(), files.end());
  return files;
}

class Programs : public testing::TestWithParam<std::string> {};

TEST_P(Programs, giveTheResultsOfAGpu) {
  frontend::Options compiling;
  compiling.files = {std::string(KCHECK_SOURCE_DIR "/tests/instrument/programs/") + GetParam() + ".cu"};
  auto program = frontend::compile(compiling);
  ASSERT_TRUE(program) << program.error().message;
  Options options;
  options.timeoutSeconds = 60;
  auto seen = checkRun(*program->device, program->hostObjects, program->facts, options);
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_FALSE(seen->run.timedOut);
  EXPECT_EQ(seen->run.signal, 0);
  EXPECT_EQ(seen->run.exitStatus, 0);
  EXPECT_GT(seen->run.kernelsLaunched, 0u);
}

std::vector<Finding> seenIn(const std::string& fixture) {
  frontend::Options compiling;
  compiling.files = {std::string(KCHECK_SOURCE_DIR "/fixtures/") + fixture + ".cu"};
  auto program = frontend::compile(compiling);
  if (!program) return {};
  auto seen = checkRun(*program->device, program->hostObjects, program->facts, Options());
  return seen ? seen->findings : std::vector<Finding>();
}

/// How severe what the run says of masks in a fixture is.
std::set<Severity> severitiesOfMasks(const std::string& fixture) {
  std::set<Severity> result;
  for (const Finding& finding : seenIn(fixture))
    if (finding.rule == "warp-mask") result.insert(finding.severity);
  return result;
}

TEST(ProbedSlots, AreNoLocks) {
  bool races = false;
  for (const Finding& finding : seenIn("hb/probe_then_update")) {
    races |= finding.rule == "race-global";
    EXPECT_EQ(finding.message.find("lock or flag"), std::string::npos) << finding.message;
    EXPECT_EQ(finding.hint.find("__threadfence"), std::string::npos) << finding.hint;
  }
  EXPECT_TRUE(races);
}

TEST(ShufflesDown, AreNotesWhereOnlyUpperLanesReadAbsentOnes) {
  EXPECT_EQ(severitiesOfMasks("shuffle_partial_sum"), std::set{Severity::Note});
  EXPECT_TRUE(severitiesOfMasks("shuffle_partial_short").contains(Severity::Error));
  EXPECT_EQ(severitiesOfMasks("reduce_block_mask"), std::set{Severity::Error}) << "the mask names them";
}

INSTANTIATE_TEST_SUITE_P(All, Programs, testing::ValuesIn(programs()),
                         [](const auto& info) { return info.param; });

} // namespace
} // namespace kcheck::instrument
