// Kernels of files without main that kcheck runs itself: what it sees there is told, and nothing else comes
// of it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

/// All that kcheck prints, on both streams.
std::string printedWith(const std::string& options) {
  const std::string command = KCHECK_PROGRAM " --format=json " + options +
                              " '" KCHECK_SOURCE_DIR "/tests/driver/programs/replay.cu' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string printed;
  std::array<char, 4096> part{};
  while (std::size_t count = fread(part.data(), 1, part.size(), pipe)) printed.append(part.data(), count);
  pclose(pipe);
  return printed;
}

Json racesIn(const std::string& printed) {
  const Json report = Json::parse(printed, nullptr, false);
  Json races = Json::array();
  if (report.is_discarded()) {
    ADD_FAILURE() << "no report: " << printed;
    return races;
  }
  std::ranges::copy_if(report.at("findings"), std::back_inserter(races), [](const Json& finding) {
    return finding.at("rule").get<std::string>().starts_with("race-");
  });
  return races;
}

TEST(Replay, TellsTheRaceAndItsLaunchAndNothingElse) {
  const std::string printed = printedWith("");
  ASSERT_EQ(printed.front(), '{') << printed; // of what the kernel prints, nothing is seen
  const Json races = racesIn(printed);
  ASSERT_EQ(races.size(), 1u) << printed;
  EXPECT_EQ(races[0].at("verdict"), "confirmed");
  EXPECT_EQ(races[0].at("line"), 6);
  EXPECT_THAT(races[0].dump(), HasSubstr("--launch='firstOfFour<<<4,128>>>(unsigned int[262144]=zero, "
                                         "int[262144]=zero, int[262144]=zero)'"));
  EXPECT_THAT(printed, testing::Not(HasSubstr("\"hang\""))) << "flags are the host's to set";
}

TEST(Replay, IsNoPartOfTheStaticPassAlone) { EXPECT_TRUE(racesIn(printedWith("--static")).empty()); }

} // namespace
