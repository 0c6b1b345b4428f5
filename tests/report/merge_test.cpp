// What both passes say becomes one report.
#include "merge_parts.h"
#include "report/kernel_name.h"

#include <gmock/gmock.h>

namespace kcheck::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Merge, SamePairOfSitesIsConfirmedAndKeepsTheBestOfBoth) {
  Finding proved = tileRace(Verdict::Proved);
  proved.holdsFor = "any launch";
  proved.hint = "__syncthreads() after line 7";
  Finding seen = tileRace(Verdict::Observed, 12);
  std::swap(seen.accesses[0], seen.accesses[1]); // the pair is unordered
  seen.accesses[0].value = "0 -> 1";
  seen.memory = MemoryFact{MemorySpace::Global, "s", 64, 0, 4, at(file, 2, 1)};

  Report report = merged({proved}, {seen});
  ASSERT_THAT(report.findings, SizeIs(1));
  const Finding& finding = report.findings[0];
  EXPECT_EQ(finding.verdict, Verdict::Confirmed);
  EXPECT_EQ(finding.count, 12u);
  EXPECT_EQ(finding.holdsFor, "any launch");
  EXPECT_EQ(finding.hint, "__syncthreads() after line 7");
  EXPECT_EQ(finding.accesses[0].value, "0 -> 1");
  EXPECT_EQ(finding.memory->size, 64u);
  EXPECT_EQ(finding.kernel, kernelName);
  EXPECT_THAT(report.disagreements, IsEmpty());
}

TEST(Merge, PossibleBecomesConfirmedWhenTheRunSeesIt) {
  Finding possible = tileRace(Verdict::Possible);
  possible.reason = "the value of `n`";
  Report report = merged({possible}, {tileRace(Verdict::Observed, 1)});
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].verdict, Verdict::Confirmed);
  EXPECT_EQ(report.findings[0].reason, "the value of `n`");
}

TEST(Merge, NotesOnTheThreadsOfTheWitnessGoWithThem) {
  Finding proved = tileRace(Verdict::Proved);
  proved.notes = {{at(file, 3, 5), "the first thread has i = 7"}};
  EXPECT_THAT(merged({proved}, {tileRace(Verdict::Observed, 12)}).findings[0].notes, IsEmpty());
  EXPECT_THAT(merged({proved}, {}).findings[0].notes, SizeIs(1));
}

TEST(Merge, NotesOnTheThreadsChangePlacesWithThem) {
  Finding proved = race(Verdict::Proved, {access(AccessKind::Write, 2), access(AccessKind::Write, 1)});
  proved.notes = {
      {at(file, 3, 5), "with n = 1; the first thread has i = 7, j = 8; the second thread has i = 0"}};
  EXPECT_EQ(merged({proved}, {}).findings[0].notes[0].message,
            "with n = 1; the first thread has i = 0; the second thread has i = 7, j = 8");
  proved.notes[0].message = "the first thread has i = 7";
  EXPECT_EQ(merged({proved}, {}).findings[0].notes[0].message, "the second thread has i = 7");
}

TEST(Merge, OtherPairsStayApart) {
  Finding other = race(Verdict::Observed, {access(AccessKind::Write, 1), access(AccessKind::Read, 0)}, 3);
  Report report = merged({tileRace(Verdict::Proved)}, {other});
  ASSERT_THAT(report.findings, SizeIs(2));
  EXPECT_EQ(report.findings[0].verdict, Verdict::Observed);
  EXPECT_EQ(report.findings[1].verdict, Verdict::Proved);
}

TEST(Merge, WritePrimaryAndTheFirstOfTwoWrites) {
  Report report = merged({tileRace(Verdict::Proved)}, {});
  EXPECT_EQ(report.findings[0].where, at(file, 7, 3, 9));
  EXPECT_EQ(report.findings[0].accesses[0].kind, AccessKind::Write);
  EXPECT_EQ(report.findings[0].accesses[0].expr, "s[t]");

  Finding twoWrites = race(Verdict::Proved, {access(AccessKind::Write, 2), access(AccessKind::Write, 1)});
  EXPECT_EQ(merged({twoWrites}, {}).findings[0].where.line, 5u);
}

TEST(Merge, ReadWriteAndWriteWriteOfOneExpressionAreOneFinding) {
  Finding writes =
      race(Verdict::Observed, {access(AccessKind::Write, 1), access(AccessKind::Write, 1)}, 4095);
  writes.kind = RaceKind::WriteWrite;
  writes.sameValue = true;
  Finding reads = race(Verdict::Observed, {access(AccessKind::Write, 1), access(AccessKind::Read, 0)}, 4000);
  Report report = merged({}, {writes, reads});
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].kind, RaceKind::ReadWrite);
  EXPECT_EQ(report.findings[0].count, 4095u); // two views of the same events, not twice as many
  EXPECT_EQ(report.findings[0].severity, Severity::Error);
}

TEST(Merge, CountsOfLaunchesAndInstantiationsAddUp) {
  Finding second = tileRace(Verdict::Observed, 5);
  Finding elsewhere = tileRace(Verdict::Observed, 7);
  elsewhere.kernel = "_Z1jPi";
  Report report = merged({}, {tileRace(Verdict::Observed, 10), second, elsewhere});
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].count, 22u);
  EXPECT_THAT(report.findings[0].alsoIn, ElementsAre("j<int>(int *)"));
}

TEST(Merge, TheWidestScopeOfOnePairIsTold) {
  Finding warp = tileRace(Verdict::Observed, 1);
  warp.rule = "race-warp";
  warp.scope = RaceScope::IntraWarp;
  Finding block = tileRace(Verdict::Observed, 1);
  block.rule = "race-shared";
  Report report = merged({}, {warp, block});
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].rule, "race-shared");
}

TEST(Merge, WhatTheRunSawNamesTheRuleUnlessTheStaticPassKnowsTheCause) {
  Finding seen = tileRace(Verdict::Observed, 1);
  seen.rule = "race-warp";
  Finding wide = tileRace(Verdict::Proved);
  EXPECT_EQ(merged({wide}, {seen}).findings[0].rule, "race-warp");
  wide.rule = "race-scope";
  EXPECT_EQ(merged({wide}, {seen}).findings[0].rule, "race-scope");
}

TEST(Merge, TheHintIsForAllThreadsThatMayRace) {
  Finding seen = tileRace(Verdict::Observed, 1);
  seen.rule = "race-warp";
  seen.scope = RaceScope::IntraWarp;
  seen.hint = "__syncwarp()";
  Finding wide = tileRace(Verdict::Possible);
  wide.hint = "__syncthreads()";
  EXPECT_EQ(merged({wide}, {seen}).findings[0].hint, "__syncthreads()");
  wide.scope = RaceScope::IntraWarp;
  EXPECT_EQ(merged({wide}, {seen}).findings[0].hint, "__syncwarp()");
}

TEST(Merge, HostRacesAreNoKernelRaces) {
  Finding host = tileRace(Verdict::Observed, 1);
  host.rule = "race-host";
  EXPECT_THAT(merged({tileRace(Verdict::Proved)}, {host}).findings, SizeIs(2));
}

TEST(Merge, MemoryFindingsJoinByRuleAndPlace) {
  Finding proved = simple("out-of-bounds", Verdict::Proved, at(file, 5, 3));
  Finding seen = simple("out-of-bounds", Verdict::Observed, at(file, 5, 3, 12));
  Finding freed = simple("use-after-free", Verdict::Observed, at(file, 5, 3));
  Finding elsewhere = simple("out-of-bounds", Verdict::Observed, at(file, 5, 9));
  Report report = mergeReport(facts(), staticPart({proved}, {answer(Property::InBounds, Answer::Refuted)}),
                              runPart({seen, freed, elsewhere}), {});
  ASSERT_THAT(report.findings, SizeIs(3));
  EXPECT_EQ(report.findings[0].verdict, Verdict::Confirmed);
  EXPECT_EQ(report.findings[1].rule, "use-after-free");
  EXPECT_EQ(report.findings[2].verdict, Verdict::Observed);
}

/// `list[n]->next`: the pointer read past the end happens to be null.
TEST(Merge, ANullPointerFromPastTheEndIsToldAsPastTheEnd) {
  Finding null = simple("out-of-bounds", Verdict::Observed, at(file, 5, 3));
  null.message = "through a null pointer";
  null.memory.emplace();
  Finding pastEnd = simple("out-of-bounds", Verdict::Observed, at(file, 5, 3));
  pastEnd.message = "right behind the end";
  pastEnd.memory.emplace().offset = 64;
  for (const auto& seen : {std::vector{null, pastEnd}, std::vector{pastEnd, null}}) {
    Report report = mergeReport(facts(), std::nullopt, runPart(seen), {});
    ASSERT_THAT(report.findings, SizeIs(1));
    EXPECT_EQ(report.findings[0].message, "right behind the end");
  }
}

TEST(Merge, BarrierFindingsJoinThoughEachPassPointsAtTheOtherBarrier) {
  Finding proved = simple("barrier-divergence", Verdict::Proved, at(file, 10, 5));
  Finding seen = simple("barrier-divergence", Verdict::Observed, at(file, 14, 5));
  Access waiting;
  waiting.where = at(file, 10, 5);
  seen.accesses = {waiting};
  auto properties = allProved();
  properties[1].answer = Answer::Refuted;
  Report report = mergeReport(facts(), staticPart({proved}, properties), runPart({seen}), {});
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].verdict, Verdict::Confirmed);

  // Where both barriers were found by both, they stay two.
  Finding provedToo = simple("barrier-divergence", Verdict::Proved, at(file, 14, 5));
  Finding seenToo = simple("barrier-divergence", Verdict::Observed, at(file, 10, 5));
  report = mergeReport(facts(), staticPart({proved, provedToo}, properties), runPart({seen, seenToo}), {});
  ASSERT_THAT(report.findings, SizeIs(2));
  EXPECT_EQ(report.findings[0].verdict, Verdict::Confirmed);
  EXPECT_EQ(report.findings[1].verdict, Verdict::Confirmed);
}

TEST(Merge, SameValueWritesAreANoteUnlessStrict) {
  Finding writes = race(Verdict::Proved, {access(AccessKind::Write, 1), access(AccessKind::Write, 1)});
  writes.kind = RaceKind::WriteWrite;
  writes.sameValue = true;
  EXPECT_EQ(merged({writes}, {}).findings[0].severity, Severity::Note);
  MergeOptions strict;
  strict.strict = true;
  EXPECT_EQ(merged({writes}, {}, strict).findings[0].severity, Severity::Error);

  // The run's inputs happen to agree, the static pass knows no such thing: an error.
  Finding seen = writes;
  seen.verdict = Verdict::Observed;
  writes.sameValue = false;
  Report report = merged({writes}, {seen});
  EXPECT_EQ(report.findings[0].severity, Severity::Error);
  EXPECT_FALSE(report.findings[0].sameValue);
}

TEST(Merge, OnlyShuffledValuesAreTakenFromTheRun) {
  Finding possible = race(Verdict::Possible, {access(AccessKind::Write, 1), access(AccessKind::Write, 1)});
  possible.kind = RaceKind::WriteWrite;
  possible.scope = RaceScope::IntraWarp;
  Finding seen = possible;
  seen.verdict = Verdict::Observed;
  seen.sameValue = true;
  EXPECT_EQ(merged({possible}, {seen}).findings[0].severity, Severity::Error);
  possible.storesShuffled = true;
  EXPECT_EQ(merged({possible}, {seen}).findings[0].severity, Severity::Note);
  seen.sameValue = false;
  EXPECT_EQ(merged({possible}, {seen}).findings[0].severity, Severity::Error);
}

TEST(Merge, NoFindingIsMoreSevereThanItsRule) {
  Report report = merged({simple("uncoalesced", Verdict::Proved, at(file, 5, 3))}, {});
  EXPECT_EQ(report.findings[0].severity, Severity::Note);
}

TEST(Merge, SortedByPlaceThenRule) {
  Report report =
      merged({}, {simple("leak", Verdict::Observed, {}), simple("leak", Verdict::Observed, at(file, 9, 1)),
                  simple("misaligned", Verdict::Observed, at(file, 2, 1)),
                  simple("hang", Verdict::Observed, at(file, 2, 1))});
  std::vector<std::string> order;
  for (const Finding& finding : report.findings)
    order.push_back(finding.rule + std::to_string(finding.where.line));
  EXPECT_THAT(order, ElementsAre("hang2", "misaligned2", "leak9", "leak0"));
}

TEST(Merge, RulesAndKernelsFilter) {
  Finding other = simple("misaligned", Verdict::Observed, at(file, 22, 1));
  other.kernel = "j<int>(int *)";
  Finding host = simple("leak", Verdict::Observed, at(file, 40, 1));
  host.kernel.clear();
  MergeOptions options;
  options.rules = *parseRuleList("race,leak");
  Report report = merged({tileRace(Verdict::Proved)}, {other, host}, options);
  ASSERT_THAT(report.findings, SizeIs(2));
  EXPECT_EQ(report.findings[1].rule, "leak");

  options = {};
  options.kernels = {"j"};
  report = merged({tileRace(Verdict::Proved)}, {other, host}, options);
  ASSERT_THAT(report.findings, SizeIs(2));
  EXPECT_EQ(report.findings[0].rule, "misaligned");
  EXPECT_THAT(report.kernels, SizeIs(1));
}

TEST(Merge, UnknownIsRefutedByWhatTheRunSaw) {
  Report report = mergeReport(facts(), staticPart({}, withRace(Answer::Unknown)),
                              runPart({tileRace(Verdict::Observed, 1)}), {});
  EXPECT_EQ(report.kernels[0].properties[0].answer, Answer::Refuted);
  EXPECT_THAT(report.disagreements, IsEmpty());
}

TEST(Merge, EveryKernelHasAnAnswerPerProperty) {
  Report report = mergeReport(facts(), staticPart({}), runPart({}), {});
  ASSERT_THAT(report.kernels, SizeIs(2));
  EXPECT_THAT(report.kernels[1].properties, SizeIs(4));
  EXPECT_EQ(report.kernels[1].properties[0].reason, "the static pass gave no answer");
  report = mergeReport(facts(), std::nullopt, runPart({}), {});
  EXPECT_FALSE(report.ranStatic);
  EXPECT_EQ(report.kernels[0].properties[3].reason, "the static pass was not asked");
  EXPECT_EQ(summarize(report).unknown, 8u);
}

TEST(Metrics, RowsOfOneSiteAddUp) {
  RunPart run = runPart({});
  Metric metric = metricOf(symbol, 2, {}, AccessKind::Write, 1, 4, 4, 128);
  metric.bankWays = 2;
  run.metrics = {metric, metric};
  run.metrics[1].bankWays = 4;
  StaticPart part = staticPart({});
  part.metrics = {metric};
  part.metrics[0].source = Source::Static;
  Report report = mergeReport(facts(), part, run, {});
  ASSERT_THAT(report.metrics, SizeIs(2));
  EXPECT_EQ(report.metrics[1].sectors, 8u);
  EXPECT_EQ(report.metrics[1].bankWays, 4u);
  EXPECT_EQ(report.metrics[1].where.line, 7u);
  EXPECT_EQ(report.metrics[1].kernel, kernelName);
}

TEST(Summary, CountsWhatIsNotSuppressed) {
  Summary summary = summarize(mixedSample().report);
  EXPECT_EQ(summary.errors, 2u);
  EXPECT_EQ(summary.notes, 1u);
  EXPECT_EQ(summary.suppressed, 1u);
  EXPECT_EQ(summary.proved, 4u);
  EXPECT_EQ(summary.refuted, 2u);
  EXPECT_EQ(summary.unknown, 2u);
}

TEST(KernelName, AsUsersWriteIt) {
  const char* full = "ns::scale<float, (Mode)1>(float *, void (*)(int))";
  for (const char* wanted : {"scale", "ns::scale", "ns::scale<float, (Mode)1>", full, "_ZN2ns5scale"})
    EXPECT_TRUE(namesKernel(wanted, "_ZN2ns5scale", full)) << wanted;
  for (const char* wanted : {"scal", "cale", "ns", "", "float"})
    EXPECT_FALSE(namesKernel(wanted, "_ZN2ns5scale", full)) << wanted;
  EXPECT_EQ(bareKernelName("(anonymous namespace)::run(int *)"), "run");
  EXPECT_EQ(bareKernelName("void fill<int>(int *)"), "fill");
  EXPECT_EQ(bareKernelName("plain"), "plain");
  EXPECT_EQ(bareKernelName("ns::k(int *) in dir/a.cu"), "k");
}

} // namespace
} // namespace kcheck::test
