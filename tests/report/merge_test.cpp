// What both passes say becomes one report.
#include "report/kernel_name.h"
#include "report/merge.h"
#include "samples.h"

#include <gmock/gmock.h>

namespace kcheck::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string file = "k.cu";
const std::string kernelName = "k(int *)";
const std::string symbol = "_Z1kPi";

/// A kernel with two sites on line 5 (`c[0] += 1`: read 0, write 1) and one each on lines 7 (write 2) and 8
/// (read 3).
Facts facts() {
  Facts facts;
  facts.files = {file};
  facts.kernels = {{symbol, kernelName, at(file, 4, 17), {}},
                   {"_Z1jPi", "j<int>(int *)", at(file, 20, 17), {}}};
  auto site = [&](AccessKind kind, Location where, const std::string& expr) {
    Site made;
    made.id = SiteId(facts.sites.size());
    made.kind = kind;
    made.where = where;
    made.expr = expr;
    facts.sites.push_back(made);
  };
  site(AccessKind::Read, at(file, 5, 3, 12), "c[0]");
  site(AccessKind::Write, at(file, 5, 3, 12), "c[0]");
  site(AccessKind::Write, at(file, 7, 3, 9), "s[t]");
  site(AccessKind::Read, at(file, 8, 7, 15), "s[n - t]");
  return facts;
}

Access access(AccessKind kind, SiteId site) {
  Access made;
  made.kind = kind;
  made.site = site;
  return made;
}

Finding race(Verdict verdict, std::vector<Access> accesses, std::uint64_t count = 0) {
  Finding finding;
  finding.rule = "race-global";
  finding.verdict = verdict;
  finding.kernel = symbol; // either form of the name is understood
  finding.message = "threads race";
  finding.kind = RaceKind::ReadWrite;
  finding.scope = RaceScope::InterBlock;
  finding.accesses = std::move(accesses);
  finding.count = count;
  return finding;
}

Finding tileRace(Verdict verdict, std::uint64_t count = 0) {
  return race(verdict, {access(AccessKind::Read, 3), access(AccessKind::Write, 2)}, count);
}

Finding simple(const std::string& rule, Verdict verdict, Location where) {
  Finding finding;
  finding.rule = rule;
  finding.verdict = verdict;
  finding.kernel = kernelName;
  finding.message = rule;
  finding.where = where;
  return finding;
}

StaticPart staticPart(std::vector<Finding> findings, std::vector<PropertyResult> properties = allProved()) {
  StaticPart part;
  part.findings = std::move(findings);
  part.kernels = {{symbol, kernelName, at(file, 4, 17), {}, std::move(properties)}};
  part.seconds = 1;
  return part;
}

RunPart runPart(std::vector<Finding> findings, Dim3 grid = {8, 1, 1}, Dim3 block = {64, 1, 1}) {
  RunPart part;
  part.findings = std::move(findings);
  part.run.ran = true;
  part.run.launches = {launchOf(symbol, grid, block, at(file, 30, 3))};
  return part;
}

std::vector<PropertyResult> withRace(Answer race) {
  auto properties = allProved();
  properties[0].answer = race;
  if (race == Answer::Unknown) properties[0].reason = "line 5";
  return properties;
}

Report merged(std::vector<Finding> fromStatic, std::vector<Finding> fromRun, MergeOptions options = {}) {
  return mergeReport(facts(), staticPart(std::move(fromStatic), withRace(Answer::Refuted)),
                     runPart(std::move(fromRun)), options);
}

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

TEST(Merge, TheRunHasTheValuesThatTheHostSets) {
  Finding possible = tileRace(Verdict::Possible);
  EXPECT_THAT(merged({possible}, {}).findings, SizeIs(1));
  possible.leansOnHost = true;
  EXPECT_THAT(merged({possible}, {}).findings, IsEmpty());
  EXPECT_THAT(merged({possible}, {tileRace(Verdict::Observed, 1)}).findings, SizeIs(1));
  RunPart notLaunched = runPart({});
  notLaunched.run.launches.clear();
  EXPECT_THAT(mergeReport(facts(), staticPart({possible}), notLaunched, {}).findings, SizeIs(1));
}

TEST(Merge, TheRunHasBeenWhereALoopCouldNotBeFollowed) {
  Finding possible = tileRace(Verdict::Possible);
  possible.leansOnLoop = true;
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
  possible.leansOnLoop = false;
  EXPECT_THAT(left(), SizeIs(1));
}

TEST(Merge, APossibleOverrunOfWhichTheRunSawNothingIsANote) {
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

TEST(Merge, APossiblyMissedBarrierOfWhichTheRunSawNothingIsANoteUnlessTheKernelRaces) {
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
}

TEST(Merge, NotesOnTheThreadsOfTheWitnessGoWithThem) {
  Finding proved = tileRace(Verdict::Proved);
  proved.notes = {{at(file, 3, 5), "the first thread has i = 7"}};
  EXPECT_THAT(merged({proved}, {tileRace(Verdict::Observed, 12)}).findings[0].notes, IsEmpty());
  EXPECT_THAT(merged({proved}, {}).findings[0].notes, SizeIs(1));
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

TEST(Merge, TheSameValueFromOnePlaceIsNotToldBesideARaceOfThatPlace) {
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

TEST(Merge, LeaksOfAProgramThatEndedEarlyAreNotes) {
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
}

TEST(Merge, AReadBeforeAnotherLaunchHasWrittenIsTheRaceOnly) {
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

TEST(Merge, AReadOfWhatNobodyWritesStandsBesideARaceOfItsLine) {
  Finding early = simple("uninitialized-read", Verdict::Observed, at(file, 8, 7, 15));
  early.count = 2;
  Report report = mergeReport(facts(), std::nullopt, runPart({early, tileRace(Verdict::Observed, 4)}), {});
  EXPECT_THAT(report.findings, SizeIs(2)) << "the run has taken back those that the race explains";
}

TEST(Merge, RacesWithinALibrarysOwnKernelAreNotes) {
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

} // namespace
} // namespace kcheck::test
