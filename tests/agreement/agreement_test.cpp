// Both passes over random kernels: what the static pass proves the run does not contradict, and where it is
// sure of a race the run sees one. A disagreement is a bug of kcheck; its kernel becomes a fixture.
//
// KCHECK_AGREEMENT_KERNELS (default 200) and KCHECK_AGREEMENT_SEED (default 1) say how many kernels and
// which.
#include "../expectations/child.h"
#include "generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace kcheck::agreement {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

unsigned numberFrom(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  return text ? unsigned(std::strtoul(text, nullptr, 10)) : otherwise;
}

/// The report of both passes on the kernels of some seeds.
Json reportOn(std::uint64_t first, unsigned count) {
  fs::path folder = fs::temp_directory_path() / ("kcheck_agreement_" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "kernels.cu") << programOf(first, count);
  auto child = expectations::runChild({KCHECK_PROGRAM, "--cuda-path=none", "--format=json", "-o",
                                       (folder / "report.json").string(), (folder / "kernels.cu").string()},
                                      600);
  std::ifstream in(folder / "report.json");
  Json report = in ? Json::parse(in, nullptr, false) : Json();
  fs::remove_all(folder);
  EXPECT_FALSE(child.timedOut);
  EXPECT_TRUE(report.is_object()) << "exit status " << child.status << "\n" << child.output;
  return report;
}

bool isRace(const Json& finding, const std::string& kernel) {
  return finding["kernel"] == kernel && finding["rule"].get<std::string>().starts_with("race");
}

TEST(Agreement, BothPassesSayTheSame) {
  constexpr unsigned kPerProgram = 40; // they share one compilation
  const unsigned kernels = numberFrom("KCHECK_AGREEMENT_KERNELS", 200);
  const unsigned seed = numberFrom("KCHECK_AGREEMENT_SEED", 1);
  unsigned proved = 0, refuted = 0;
  for (unsigned done = 0; done < kernels; done += kPerProgram) {
    const Json report = reportOn(seed + done, std::min(kPerProgram, kernels - done));
    if (!report.is_object()) return;
    for (const Json& contradiction : report["internal"])
      ADD_FAILURE() << contradiction << "\nseeds from " << seed + done;
    for (const Json& kernel : report["kernels"]) {
      const std::string name = kernel["name"];
      const std::uint64_t number = std::strtoull(name.c_str() + 1, nullptr, 10);
      bool sure = false, seen = false;
      for (const Json& finding : report["findings"]) {
        if (!isRace(finding, name)) continue;
        // The run remembers the last access to a cell: an atomic operation hides the plain one before it.
        bool mayBeHidden = finding["kind"] == "atomic-plain";
        sure = sure || (finding["verdict"] == "proved" && !mayBeHidden);
        seen = seen || finding["count"].get<unsigned>() > 0;
      }
      EXPECT_TRUE(!sure || seen) << "the static pass is sure of a race that the run does not see:\n"
                                 << kernelOf(number);
      for (const Json& property : kernel["properties"]) {
        if (property["property"] != "race-free") continue;
        proved += property["verdict"] == "proved";
        refuted += property["verdict"] == "refuted";
      }
    }
  }
  // A generator whose kernels are all of one kind, or too hard, would test nothing.
  EXPECT_GT(proved, kernels / 10);
  EXPECT_GT(refuted, kernels / 5);
}

TEST(Generator, GivesTheSameKernelEverywhere) {
  EXPECT_EQ(kernelOf(7), kernelOf(7));
  EXPECT_NE(kernelOf(7), kernelOf(8));
}

} // namespace
} // namespace kcheck::agreement
