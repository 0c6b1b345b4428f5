// What a race detector says must follow from the program, not from the order in which threads happened to
// run. Every program of fixtures/ that races, or is the right twin of one that does, is compiled once and run
// under twenty schedules. What barriers order gives the same pairs of lines each time; what locks, flags and
// tickets order is found by the default schedule, and the test says under how many of the others.
#include "tests/expectations/expectation.h"
#include "tests/expectations/source_lines.h"

#include "frontend/frontend.h"
#include "instrument/instrument.h"
#include "instrument/pass/temporary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace kcheck::instrument {
namespace {

namespace fs = std::filesystem;
using expectations::Expectations;
using expectations::ExpectedFinding;
using expectations::From;

const fs::path root = KCHECK_SOURCE_DIR;
constexpr unsigned kRandomSchedules = 18;

bool isRace(const std::string& rule) { return rule.starts_with("race-"); }

/// Races that the run must find, by line.
std::set<unsigned> racyLines(const Expectations& expected) {
  std::set<unsigned> lines;
  for (const ExpectedFinding& finding : expected.findings)
    if (isRace(finding.rule) && (finding.from == From::All || finding.from == From::Run))
      lines.insert(finding.line);
  return lines;
}

bool runs(const Expectations& expected) {
  bool later = std::ranges::any_of(expected.findings, [](const ExpectedFinding& finding) {
    return finding.from == From::Later && isRace(finding.rule);
  });
  return expected.passes != expectations::Passes::Static && !later;
}

/// Racy programs and their right twins.
std::vector<std::string> programs() {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root / "fixtures")) {
    std::string name = fs::relative(entry.path(), root).string();
    if (entry.path().extension() != ".cu" || name.starts_with("fixtures/static/")) continue;
    std::string text = expectations::contentOf(entry.path());
    Expectations expected = expectations::parse(text);
    bool mains = text.find("int main(") != std::string::npos;
    std::size_t twin = name.rfind("_fixed.cu");
    bool racy = !racyLines(expected).empty();
    if (twin != std::string::npos)
      racy = !racyLines(expectations::parse(expectations::contentOf(root / (name.substr(0, twin) + ".cu"))))
                  .empty();
    if (mains && racy && runs(expected)) files.push_back(name);
  }
  std::ranges::sort(files);
  return files;
}

std::string caseName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(9, info.param.size() - 12);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

/// Barriers order threads here and nothing else does, as far as words tell.
bool onlyBarriers(const std::string& text) {
  if (text.find("__sync") == std::string::npos) return false;
  for (const char* word : {"fence", "volatile", "atomic", "cuda::", "asm", "Stream", "__host__", "grid.sync"})
    if (text.find(word) != std::string::npos) return false;
  return true;
}

/// The two lines of a race. How far apart the threads are that meet there first (race-warp or race-shared)
/// does depend on the order.
using Pairs = std::set<std::pair<unsigned, unsigned>>;

Pairs pairsOf(const Observation& seen) {
  Pairs pairs;
  for (const Finding& finding : seen.findings) {
    if (!isRace(finding.rule) || finding.accesses.empty()) continue;
    unsigned a = finding.accesses.front().where.line, b = finding.accesses.back().where.line;
    pairs.emplace(std::min(a, b), std::max(a, b));
  }
  return pairs;
}

std::string toText(const Pairs& pairs) {
  std::string text;
  for (auto [first, second] : pairs) text += fmt::format("{}{}-{}", text.empty() ? "" : ", ", first, second);
  return text.empty() ? "nothing" : text;
}

struct Named {
  std::string name;
  Options options;
};

std::vector<Named> schedules() {
  std::vector<Named> all(2);
  all[0].name = "fair";
  all[1].name = "lockstep";
  all[1].options.schedule = Schedule::Lockstep;
  for (unsigned seed = 1; seed <= kRandomSchedules; ++seed) {
    all.push_back({fmt::format("random:{}", seed), {}});
    all.back().options.schedule = Schedule::Random;
    all.back().options.seed = seed;
  }
  for (Named& one : all) one.options.timeoutSeconds = 30;
  return all;
}

/// A race for each line; which of a race's two lines comes first is chosen later, when both passes are
/// joined. Some have but a place of their own: a kernel that nobody waits for touches nothing.
bool foundAll(const std::set<unsigned>& lines, const Observation& seen) {
  const auto isAt = [](const Finding& finding, unsigned line) {
    return isRace(finding.rule) &&
           (finding.where.line == line || std::ranges::any_of(finding.accesses, [&](const Access& access) {
              return access.where.line == line;
            }));
  };
  const auto isWanted = [&](const Finding& finding) {
    return std::ranges::any_of(lines, [&](unsigned line) { return isAt(finding, line); });
  };
  return std::size_t(std::ranges::count_if(seen.findings, isWanted)) >= lines.size() &&
         std::ranges::all_of(lines, [&](unsigned line) {
           return std::ranges::any_of(seen.findings,
                                      [&](const Finding& finding) { return isAt(finding, line); });
         });
}

class Schedules : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    frontend::Options compiling;
    compiling.files = {(root / GetParam()).string()};
    compiling.arch = expectations::architectureOf(expectations::contentOf(root / GetParam()));
    auto compiled = frontend::compile(compiling);
    ASSERT_TRUE(compiled) << compiled.error().message;
    program.emplace(std::move(*compiled));
    auto object = instrumentDevice(*program->device, program->facts, {});
    ASSERT_TRUE(object) << object.error().message;
    program->hostObjects.push_back(std::move(*object));
    auto made = TemporaryFolder::make();
    ASSERT_TRUE(made);
    folder.emplace(std::move(*made));
    auto linked = linkProgram(program->hostObjects, {}, path());
    ASSERT_TRUE(linked) << linked.error().message;
  }
  std::string path() const { return folder->path() + "/program"; }

  std::optional<frontend::Program> program;
  std::optional<TemporaryFolder> folder;
};

TEST_P(Schedules, SayTheSame) {
  const std::string text = expectations::contentOf(root / GetParam());
  const std::set<unsigned> lines = racyLines(expectations::parse(text));
  std::map<Pairs, std::string> seen;
  unsigned found = 0, ran = 0;
  testing::internal::CaptureStdout(); // the programs' own
  std::string missedBy;
  for (const Named& schedule : schedules()) {
    auto observed = runProgram(path(), program->facts, schedule.options);
    ASSERT_TRUE(observed) << observed.error().message;
    EXPECT_FALSE(observed->run.timedOut) << schedule.name;
    Pairs pairs = pairsOf(*observed);
    std::string& names = seen[pairs];
    names += (names.empty() ? "" : " ") + schedule.name;
    if (lines.empty()) {
      EXPECT_TRUE(pairs.empty()) << schedule.name << " reports " << toText(pairs);
    }
    bool all = foundAll(lines, *observed);
    if (ran == 0) {
      EXPECT_TRUE(all) << "the default schedule finds only " << toText(pairs);
    }
    if (!all) missedBy += " " + schedule.name;
    found += all;
    ++ran;
  }
  const std::string output = testing::internal::GetCapturedStdout();
  if (HasFailure()) fmt::print("{}", output); // what failed stands there, too
  std::string summary;
  for (const auto& [pairs, names] : seen) summary += fmt::format("  {}: {}\n", names, toText(pairs));
  if (onlyBarriers(text)) {
    EXPECT_EQ(seen.size(), 1u) << summary;
  }
  if (!lines.empty()) {
    fmt::print("{}: found under {} of {} schedules{}{}\n", GetParam(), found, ran,
               missedBy.empty() ? "" : ", not under", missedBy);
    if (seen.size() > 1) fmt::print("{}", summary);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Schedules, testing::ValuesIn(programs()), caseName);

} // namespace
} // namespace kcheck::instrument
