// Where the passes contradict each other, and where it only looks so.
#include "merge_parts.h"

#include <gmock/gmock.h>

namespace kcheck::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Disagreement, ARaceThatWasProvedAbsentIsLoud) {
  auto properties = allProved();
  properties[0].holdsFor = "any launch";
  properties[0].assumptions = {"pointer parameters do not overlap"};
  Report report =
      mergeReport(facts(), staticPart({}, properties), runPart({tileRace(Verdict::Observed, 1)}), {});
  ASSERT_THAT(report.disagreements, SizeIs(1));
  EXPECT_THAT(report.disagreements[0], HasSubstr("race-global at k.cu:7:3 in `k(int *)`"));
  EXPECT_THAT(report.disagreements[0], HasSubstr("assuming: pointer parameters do not overlap"));
  EXPECT_EQ(report.kernels[0].properties[0].answer, Answer::Refuted); // "proved" is not shown any more
}

TEST(Disagreement, NotOutsideOfTheLaunchesThatTheProofIsAbout) {
  auto properties = allProved();
  properties[0].holdsFor = "the launches";
  StaticPart part = staticPart({}, properties);
  part.kernels[0].launches = {launchOf(symbol, {8, 1, 1}, {32, 1, 1}, at(file, 30, 3))};
  Report report = mergeReport(facts(), part, runPart({tileRace(Verdict::Observed, 1)}), {});
  EXPECT_THAT(report.disagreements, IsEmpty());
  EXPECT_EQ(report.kernels[0].properties[0].answer, Answer::Refuted);

  RunPart sameLaunch = runPart({tileRace(Verdict::Observed, 1)}, {8, 1, 1}, {32, 1, 1});
  EXPECT_THAT(mergeReport(facts(), part, sameLaunch, {}).disagreements, SizeIs(1));
}

TEST(Disagreement, NotOfAKernelThatCallsTheSameHelper) {
  auto properties = allProved();
  properties[0].holdsFor = kLaunchesOfThisRun; // there; of larger launches the race is possible
  Finding inBoth = tileRace(Verdict::Possible);
  inBoth.alsoIn = {"j<int>(int *)"};
  Finding seen = tileRace(Verdict::Observed, 1);
  seen.kernel = "_Z1jPi";
  Report report = mergeReport(facts(), staticPart({inBoth}, properties), runPart({seen}), {});
  EXPECT_THAT(report.disagreements, IsEmpty());
  EXPECT_EQ(report.kernels[0].properties[0].answer, Answer::Proved);
  EXPECT_EQ(report.kernels[1].properties[0].answer, Answer::Refuted);
}

TEST(Disagreement, NotWhereTheProofLeavesACounterToTheHost) {
  auto properties = allProved();
  properties[0].holdsFor = "any launch";
  properties[0].assumptions = {"the counter at line 5 is 0 when the kernel starts",
                               "no loop runs 2^31 times or more"};
  Report report =
      mergeReport(facts(), staticPart({}, properties), runPart({tileRace(Verdict::Observed, 1)}), {});
  EXPECT_THAT(report.disagreements, IsEmpty());
  EXPECT_EQ(report.kernels[0].properties[0].answer, Answer::Refuted);
  EXPECT_EQ(report.kernels[0].properties[0].reason, "seen in the run; it was proved assuming the counter at "
                                                    "line 5 is 0 when the kernel starts, which is for the "
                                                    "host to see to");
}

TEST(Disagreement, HostInitialisationIsAnAssumptionThatTheRunChecks) {
  auto properties = allProved();
  properties[3].assumptions = {"the host fills `in`"};
  Finding read = simple("uninitialized-read", Verdict::Observed, at(file, 5, 3));
  read.memory = MemoryFact{MemorySpace::Global, "in", 64, 0, 4, {}};
  Report report = mergeReport(facts(), staticPart({}, properties), runPart({read}), {});
  EXPECT_THAT(report.disagreements, IsEmpty());
  EXPECT_EQ(report.kernels[0].properties[3].answer, Answer::Refuted);
  read.memory->space = MemorySpace::Shared; // no assumption excuses that
  EXPECT_THAT(mergeReport(facts(), staticPart({}, properties), runPart({read}), {}).disagreements, SizeIs(1));
}

TEST(Disagreement, NotOverARaceThatAnAccessOutsideItsArrayLedTo) {
  auto properties = allProved();
  properties[2].answer = Answer::Unknown;
  const Finding race = tileRace(Verdict::Observed, 1);
  Finding end = simple("out-of-bounds", Verdict::Observed, race.accesses[0].where);
  end.count = 1;
  end.accesses = {race.accesses[0]};
  Report report = mergeReport(facts(), staticPart({}, properties), runPart({race, end}), {});
  EXPECT_THAT(report.disagreements, IsEmpty());
  EXPECT_EQ(report.kernels[0].properties[0].answer, Answer::Refuted);
  EXPECT_THAT(report.kernels[0].properties[0].reason, HasSubstr("leaves its array"));

  properties = allProved(); // then that access is what the passes disagree about
  EXPECT_THAT(mergeReport(facts(), staticPart({}, properties), runPart({race, end}), {}).disagreements,
              SizeIs(2));
}

/// A load of 4 or 32 sectors per request, in the one launch that both passes know.
Report withTraffic(std::uint64_t computed, std::uint64_t measured, std::vector<Finding> seen = {},
                   Dim3 launched = {64, 1, 1}) {
  Metric metric;
  metric.kernel = symbol;
  metric.site = 3;
  metric.requests = 10;
  metric.sectors = 10 * computed;
  metric.idealSectors = 40;
  metric.bytesRequested = 1280;
  metric.source = Source::Static;
  StaticPart fromStatic = staticPart({});
  fromStatic.kernels[0].launches = {launchOf(symbol, {8, 1, 1}, {64, 1, 1}, at(file, 30, 3))};
  fromStatic.metrics = {metric};
  RunPart fromRun = runPart(std::move(seen), {8, 1, 1}, launched);
  metric.source = Source::Run;
  metric.sectors = 10 * measured;
  fromRun.metrics = {metric};
  return mergeReport(facts(), fromStatic, fromRun, {});
}

TEST(Disagreement, TrafficThatThePassesCountDifferentlyIsLoud) {
  EXPECT_THAT(withTraffic(4, 4).disagreements, IsEmpty());
  Report report = withTraffic(4, 32);
  ASSERT_THAT(report.disagreements, SizeIs(1));
  EXPECT_THAT(report.disagreements[0], HasSubstr("the run measured 32.00 sectors per request at k.cu:8:7"));
  EXPECT_THAT(report.disagreements[0], HasSubstr("where the static pass had computed 4.00"));
}

TEST(Disagreement, TrafficOfOtherLaunchesAndOfBrokenProgramsIsNotCompared) {
  EXPECT_THAT(withTraffic(4, 32, {}, {128, 1, 1}).disagreements, IsEmpty());
  Finding wrong = simple("out-of-bounds", Verdict::Observed, at(file, 5, 3));
  for (const std::string& sentence : withTraffic(4, 32, {wrong}).disagreements)
    EXPECT_THAT(sentence, testing::Not(HasSubstr("sectors")));
}

} // namespace
} // namespace kcheck::test
