// Both passes over random kernels: what the static pass proves the run does not contradict, and where it is
// sure of a race the run sees one. A disagreement is a bug of kcheck; its kernel becomes a fixture.
//
// KCHECK_AGREEMENT_KERNELS (default 200), KCHECK_AGREEMENT_IDIOMS and KCHECK_AGREEMENT_FLAGS (default 60) say
// how many kernels of which family, KCHECK_AGREEMENT_SEED (default 1) which; KCHECK_AGREEMENT_KEEP names a
// folder in which the programs and their reports stay.
#include "../expectations/child.h"
#include "flags.h"
#include "generator.h"
#include "idioms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>
#include <vector>

namespace kcheck::agreement {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

unsigned numberFrom(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  return text ? unsigned(std::strtoul(text, nullptr, 10)) : otherwise;
}

/// Which programs: of one family of kernels, from a seed on.
struct Family {
  char letter;                ///< with which its kernels' names begin
  unsigned kernelsPerProgram; ///< they share one compilation
  std::string (*kernel)(std::uint64_t seed);
  std::string (*program)(std::uint64_t first, unsigned count);
};

/// Every third program of the idioms is launched in shapes that the source does not show.
std::string idiomProgram(std::uint64_t first, unsigned count) {
  return idiomProgramOf(first, count, first / 20 % 3 == 2);
}

/// The report of both passes on the kernels of some seeds.
Json reportOn(const Family& family, std::uint64_t first, unsigned count) {
  const char* kept = std::getenv("KCHECK_AGREEMENT_KEEP");
  fs::path folder =
      kept ? fs::path(kept) : fs::temp_directory_path() / ("kcheck_agreement_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::string stem = family.letter + std::to_string(first);
  std::ofstream(folder / (stem + ".cu")) << family.program(first, count);
  auto child =
      expectations::runChild({KCHECK_PROGRAM, "--cuda-path=none", "--format=json", "-o",
                              (folder / (stem + ".json")).string(), (folder / (stem + ".cu")).string()},
                             600);
  std::ifstream in(folder / (stem + ".json"));
  Json report = in ? Json::parse(in, nullptr, false) : Json();
  if (!kept) fs::remove_all(folder);
  EXPECT_FALSE(child.timedOut) << stem;
  EXPECT_TRUE(report.is_object()) << stem << ": exit status " << child.status << "\n" << child.output;
  return report;
}

/// Whether the run came to its end: what it did not see says nothing otherwise.
bool hasRun(const Json& report) {
  const Json& run = report["run"];
  return run["ran"] == true && run["exit_status"].is_number() && run["timed_out"] == false;
}

bool isRace(const Json& finding, const std::string& kernel) {
  return finding["kernel"] == kernel && finding["rule"].get<std::string>().starts_with("race");
}

/// How many kernels came out how.
struct Tally {
  unsigned proved = 0, refuted = 0, unknown = 0;
};

void compare(const Family& family, const Json& report, std::uint64_t first, Tally& tally) {
  for (const Json& contradiction : report["internal"])
    ADD_FAILURE() << contradiction << "\nseeds from " << family.letter << first;
  const bool ran = hasRun(report);
  EXPECT_TRUE(ran) << family.letter << first << ": " << report["run"];
  for (const Json& kernel : report["kernels"]) {
    const std::string name = kernel["name"];
    bool sure = false, seen = false;
    for (const Json& finding : report["findings"]) {
      if (!isRace(finding, name)) continue;
      // The run remembers the last access to a cell: an atomic operation hides the plain one before it.
      bool mayBeHidden = finding["kind"] == "atomic-plain";
      sure = sure || (finding["verdict"] == "proved" && !mayBeHidden);
      seen = seen || finding["count"].get<unsigned>() > 0;
    }
    EXPECT_TRUE(!sure || seen || !ran) << "the static pass is sure of a race that the run does not see:\n"
                                       << family.kernel(std::strtoull(name.c_str() + 1, nullptr, 10));
    for (const Json& property : kernel["properties"]) {
      if (property["property"] != "race-free") continue;
      ++(property["verdict"] == "proved"    ? tally.proved
         : property["verdict"] == "refuted" ? tally.refuted
                                            : tally.unknown);
    }
  }
}

void bothPassesOn(const Family& family, unsigned kernels, unsigned leastProved, unsigned leastRefuted) {
  const unsigned seed = numberFrom("KCHECK_AGREEMENT_SEED", 1);
  Tally tally;
  std::vector<std::uint64_t> withoutReport;
  for (unsigned done = 0; done < kernels; done += family.kernelsPerProgram) {
    const Json report = reportOn(family, seed + done, std::min(family.kernelsPerProgram, kernels - done));
    if (report.is_object())
      compare(family, report, seed + done, tally);
    else
      withoutReport.push_back(seed + done);
  }
  std::printf("proved %u, refuted %u, unknown %u\n", tally.proved, tally.refuted, tally.unknown);
  EXPECT_TRUE(withoutReport.empty()) << "programs of these seeds gave no report: "
                                     << testing::PrintToString(withoutReport);
  // A generator whose kernels are all of one kind, or too hard, would test nothing.
  EXPECT_GE(tally.proved, leastProved);
  EXPECT_GE(tally.refuted, leastRefuted);
}

TEST(Agreement, BothPassesSayTheSame) {
  const unsigned kernels = numberFrom("KCHECK_AGREEMENT_KERNELS", 200);
  bothPassesOn({'k', 40, kernelOf, programOf}, kernels, kernels / 10, kernels / 5);
}

TEST(Agreement, BothPassesSayTheSameOfIdioms) {
  const unsigned kernels = numberFrom("KCHECK_AGREEMENT_IDIOMS", 60);
  bothPassesOn({'w', 20, idiomKernelOf, idiomProgram}, kernels, kernels / 20, kernels / 5);
}

TEST(Agreement, BothPassesSayTheSameOfFlags) {
  const unsigned kernels = numberFrom("KCHECK_AGREEMENT_FLAGS", 60);
  bothPassesOn({'f', 20, flagKernelOf, flagProgramOf}, kernels, kernels / 10, kernels / 10);
}

TEST(Generator, GivesTheSameKernelEverywhere) {
  EXPECT_EQ(kernelOf(7), kernelOf(7));
  EXPECT_NE(kernelOf(7), kernelOf(8));
}

} // namespace
} // namespace kcheck::agreement
