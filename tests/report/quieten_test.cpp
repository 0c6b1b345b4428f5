// What is dropped, folded or told as a note when the passes are joined.
#include "merge_parts.h"

#include <gmock/gmock.h>

namespace kcheck::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Quieten, TheRunHasTheValuesThatTheHostSets) {
  Finding possible = tileRace(Verdict::Possible);
  EXPECT_THAT(merged({possible}, {}).findings, SizeIs(1));
  possible.leansOnHost = true;
  EXPECT_THAT(merged({possible}, {}).findings, IsEmpty());
  EXPECT_THAT(merged({possible}, {tileRace(Verdict::Observed, 1)}).findings, SizeIs(1));
  RunPart notLaunched = runPart({});
  notLaunched.run.launches.clear();
  EXPECT_THAT(mergeReport(facts(), staticPart({possible}), notLaunched, {}).findings, SizeIs(1));
}

TEST(Quieten, TheRunHasBeenWhereALoopCouldNotBeFollowed) {
  Finding possible = tileRace(Verdict::Possible);
  possible.goesUnfollowed = true;
  RunPart run = runPart({});
  auto goTo = [&](SiteId site) {
    Metric metric;
    metric.kernel = symbol;
    metric.site = site;
    metric.requests = 1;
    run.metrics.push_back(metric);
  };
  auto left = [&] { return mergeReport(facts(), staticPart({possible}), run, {}).findings; };
  EXPECT_THAT(left(), SizeIs(1));
  goTo(2);
  EXPECT_THAT(left(), SizeIs(1));
  goTo(3);
  EXPECT_THAT(left(), IsEmpty());
  possible.goesUnfollowed = false;
  EXPECT_THAT(left(), SizeIs(1));
}

TEST(Quieten, ARaceOfOtherInputsOfWhichTheRunSawNothingIsANote) {
  Finding possible = tileRace(Verdict::Possible);
  possible.severity = Severity::Warning;
  RunPart run = runPart({});
  for (const SiteId site : {2, 3}) {
    Metric metric;
    metric.kernel = symbol;
    metric.site = site;
    metric.requests = 1;
    run.metrics.push_back(metric);
  }
  auto severity = [&] {
    return mergeReport(facts(), staticPart({possible}), run, {}).findings.at(0).severity;
  };
  EXPECT_EQ(severity(), Severity::Warning) << "it leans on something else";
  possible.leansOnInput = true;
  EXPECT_EQ(severity(), Severity::Note);
  run.metrics.pop_back();
  EXPECT_EQ(severity(), Severity::Warning) << "the run has not been at both places";
}

TEST(Quieten, APossibleOverrunOfWhichTheRunSawNothingIsANote) {
  Finding overrun = simple("out-of-bounds", Verdict::Possible, at(file, 7, 3, 9));
  overrun.accesses = {access(AccessKind::Write, 2)};
  RunPart run = runPart({});
  auto severity = [&] {
    return mergeReport(facts(), staticPart({overrun}), run, {}).findings.at(0).severity;
  };
  EXPECT_GT(severity(), Severity::Note) << "it has not been there";
  Metric there;
  there.kernel = symbol;
  there.site = 2;
  there.requests = 1;
  run.metrics = {there};
  EXPECT_EQ(severity(), Severity::Note);
  run.run.timedOut = true;
  EXPECT_GT(severity(), Severity::Note);
  run.run.timedOut = false;
  overrun.verdict = Verdict::Proved;
  EXPECT_GT(severity(), Severity::Note);
}

TEST(Quieten, APossiblyMissedBarrierOfWhichTheRunSawNothingIsANoteUnlessTheKernelRaces) {
  Finding missed = simple("barrier-divergence", Verdict::Possible, at(file, 7, 3, 9));
  auto severity = [&](std::vector<Finding> findings, RunPart run) {
    findings.push_back(missed);
    const Report report = mergeReport(facts(), staticPart(findings), std::move(run), {});
    return std::ranges::find(report.findings, missed.rule, &Finding::rule)->severity;
  };
  EXPECT_EQ(severity({}, runPart({})), Severity::Note);
  EXPECT_GT(severity({tileRace(Verdict::Proved)}, runPart({})), Severity::Note);
  RunPart notLaunched = runPart({});
  notLaunched.run.launches.clear();
  EXPECT_GT(severity({}, notLaunched), Severity::Note);
  missed.rule = "warp-mask";
  EXPECT_EQ(severity({}, runPart({})), Severity::Note);
  EXPECT_GT(severity({}, std::move(notLaunched)), Severity::Note);
}

TEST(Quieten, TheSameValueFromOnePlaceIsNotToldBesideARaceOfThatPlace) {
  Finding same = race(Verdict::Observed, {access(AccessKind::Write, 2), access(AccessKind::Write, 2)}, 3);
  same.kind = RaceKind::WriteWrite;
  same.sameValue = true;
  same.memory = MemoryFact();
  Finding other = race(Verdict::Observed, {access(AccessKind::Write, 1), access(AccessKind::Write, 2)}, 1);
  other.memory = same.memory;
  EXPECT_THAT(merged({}, {same, other}).findings, SizeIs(1));
  EXPECT_THAT(merged({}, {same}).findings, SizeIs(1));
  other.memory->name = "another";
  EXPECT_THAT(merged({}, {same, other}).findings, SizeIs(2));
}

TEST(Quieten, LeaksOfAProgramThatEndedEarlyAreNotes) {
  RunPart part = runPart({simple("leak", Verdict::Observed, at(file, 30, 3)),
                          simple("misaligned", Verdict::Observed, at(file, 5, 3))});
  auto severity = [&] { return mergeReport(facts(), {}, part, {}).findings.back().severity; };
  part.findings[1].count = 1;
  EXPECT_EQ(severity(), Severity::Warning);
  part.run.exitStatus = 2;
  EXPECT_EQ(severity(), Severity::Note);
  part.findings.pop_back(); // ends so by itself
  EXPECT_EQ(severity(), Severity::Warning);
}

TEST(Quieten, AReadBeforeAnotherLaunchHasWrittenIsTheRaceOnly) {
  Finding early = simple("uninitialized-read", Verdict::Observed, at(file, 8, 7, 15));
  early.count = 2;
  Finding race = tileRace(Verdict::Observed, 4);
  race.rule = "race-host";
  race.scope = RaceScope::Host;
  Report report = mergeReport(facts(), std::nullopt, runPart({early, race}), {});
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].rule, "race-host");
  ASSERT_THAT(report.findings[0].notes, SizeIs(1));
  EXPECT_THAT(report.findings[0].notes[0].message, HasSubstr("before anyone had written"));

  race.memory = MemoryFact{MemorySpace::Global, "a", 64, 0, 4, {}};
  early.memory = MemoryFact{MemorySpace::Global, "b", 64, 0, 4, {}};
  EXPECT_THAT(mergeReport(facts(), std::nullopt, runPart({early, race}), {}).findings, SizeIs(2))
      << "of another array";
}

TEST(Quieten, AReadOfWhatNobodyWritesStandsBesideARaceOfItsLine) {
  Finding early = simple("uninitialized-read", Verdict::Observed, at(file, 8, 7, 15));
  early.count = 2;
  Report report = mergeReport(facts(), std::nullopt, runPart({early, tileRace(Verdict::Observed, 4)}), {});
  EXPECT_THAT(report.findings, SizeIs(2)) << "the run has taken back those that the race explains";
}

TEST(Quieten, RacesWithinALibrarysOwnKernelAreNotes) {
  auto severityOf = [](bool libraryKernel, bool librarySites) {
    Facts made = facts();
    made.kernels[0].inSystemHeader = libraryKernel;
    made.sites[2].inSystemHeader = librarySites;
    made.sites[3].inSystemHeader = librarySites;
    Report report = mergeReport(made, std::nullopt, runPart({tileRace(Verdict::Observed, 4)}), {});
    return report.findings.at(0).severity;
  };
  EXPECT_EQ(severityOf(true, true), Severity::Note);
  EXPECT_EQ(severityOf(true, false), Severity::Error) << "a function of the user's that the library calls";
  EXPECT_EQ(severityOf(false, true), Severity::Error) << "the user's kernel calls the library";
}

TEST(Quieten, HowALibraryLaunchesItsKernelsIsNotTold) {
  auto told = [](bool libraryKernel) {
    Facts made = facts();
    made.kernels[0].inSystemHeader = libraryKernel;
    Finding shape = simple("launch-shape", Verdict::Observed, at(file, 20, 3, 10));
    shape.kernel = made.kernels[0].name;
    Finding failed = simple("invalid-launch", Verdict::Observed, at(file, 21, 3, 10));
    failed.kernel = made.kernels[0].name;
    return mergeReport(made, std::nullopt, runPart({shape, failed}), {}).findings;
  };
  EXPECT_THAT(told(false), SizeIs(2));
  ASSERT_THAT(told(true), SizeIs(1));
  EXPECT_EQ(told(true)[0].rule, "invalid-launch");
}

} // namespace
} // namespace kcheck::test
