// Words of the text report, one at a time; whole reports are in golden_test.cpp.
#include "report/text_parts.h"
#include "samples.h"

#include <gmock/gmock.h>

namespace kcheck::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string textOf(const Finding& finding) {
  std::ostringstream out;
  text::writeFinding(finding, {}, out);
  return out.str();
}

Finding bounds(std::int64_t offset, std::uint64_t bytes = 4, std::uint64_t size = 4000) {
  Finding finding;
  finding.rule = "out-of-bounds";
  finding.kernel = "k()";
  finding.message = "m";
  finding.where = at("a.cu", 3, 5);
  finding.memory = MemoryFact{MemorySpace::Global, "z", size, offset, bytes, {}};
  finding.count = 2;
  return finding;
}

TEST(TextFinding, WhereAnAccessLies) {
  EXPECT_THAT(textOf(bounds(4000)),
              HasSubstr("      4 bytes at byte 4000 of `z`, which has 4000 bytes: right behind its end\n"));
  EXPECT_THAT(textOf(bounds(4001)), HasSubstr(": 1 byte past its end"));
  EXPECT_THAT(textOf(bounds(-8)),
              HasSubstr("at byte -8 of `z`, which has 4000 bytes: 8 bytes before its start"));
  EXPECT_THAT(textOf(bounds(3998)), HasSubstr(": the last 2 bytes past its end"));
  EXPECT_THAT(textOf(bounds(16)), HasSubstr("which has 4000 bytes\n"));
  Finding nameless = bounds(4000);
  nameless.memory->name.clear();
  nameless.memory->size.reset();
  EXPECT_THAT(textOf(nameless), HasSubstr("4 bytes at byte 4000 of the allocation\n"));
}

TEST(TextFinding, VerdictsInPlainWords) {
  Finding finding = bounds(4000);
  EXPECT_THAT(textOf(finding), HasSubstr("      seen in the run 2 times\n"));
  finding.count = 1;
  EXPECT_THAT(textOf(finding), HasSubstr("      seen in the run once\n"));
  finding.verdict = Verdict::Possible;
  finding.reason = "the value of `n`";
  EXPECT_THAT(textOf(finding), HasSubstr("      possible: the witness leans on the value of `n`\n"));
  finding.verdict = Verdict::Confirmed;
  EXPECT_THAT(textOf(finding),
              HasSubstr("      seen in the run once, as the static pass says (confirmed)\n"));
  finding.holdsFor = "any launch";
  EXPECT_THAT(textOf(finding),
              HasSubstr("      possible for any launch; seen in the run once (confirmed)\n"));
  finding.reason.clear();
  EXPECT_THAT(textOf(finding), HasSubstr("      proved for any launch; seen in the run once (confirmed)\n"));
  finding.count = 0;
  EXPECT_THAT(textOf(finding),
              HasSubstr("      proved for any launch; a replay of the witness shows it (confirmed)\n"));
  finding.verdict = Verdict::Proved;
  EXPECT_THAT(textOf(finding), HasSubstr("      proved for any launch\n"));
}

std::string snippetOf(const std::string& line) {
  MemorySourceReader source;
  source.add("a.cu", line + "\n");
  Finding finding;
  finding.where = at("a.cu", 1, 3);
  TextOptions options;
  options.source = &source;
  std::ostringstream out;
  text::writeFinding(finding, options, out);
  return out.str();
}

TEST(TextFinding, ExpectationsAreNotShown) {
  EXPECT_THAT(snippetOf("  c[0] += 1; // expect: race-global // expect-efficiency: 25"),
              HasSubstr("|   c[0] += 1;\n"));
  EXPECT_THAT(snippetOf("  c[0] += 1; // expected by all"), HasSubstr("|   c[0] += 1; // expected by all\n"));
  EXPECT_THAT(snippetOf("  c[0] += 1; // why // expect-run: leak"), HasSubstr("|   c[0] += 1; // why\n"));
}

TEST(TextFinding, TheSameWithAnotherAccessIsOneLine) {
  Sample sample = cleanSample();
  Finding race;
  race.rule = "race-warp";
  race.message = "m";
  race.where = at("vecadd.cu", 5, 3);
  race.count = 7;
  race.accesses.resize(2);
  race.accesses[1].expr = "v[t + 1]";
  race.accesses[1].where = at("vecadd.cu", 6, 3);
  Finding other = race;
  other.accesses[1].where = at("vecadd.cu", 7, 3);
  Finding apart = race;
  apart.where = at("vecadd.cu", 6, 1);
  sample.report.findings = {race, other, apart};
  const std::string text = sample.text();
  EXPECT_THAT(
      text,
      HasSubstr(
          "vecadd.cu:7:3: note: the same with `v[t + 1]`, which is read here: seen in the run 7 times\n"));
  EXPECT_EQ(text.find("vecadd.cu:5:3: error"), text.rfind("vecadd.cu:5:3: error"));
  EXPECT_THAT(text, HasSubstr("\n\nvecadd.cu:6:1: error"));
}

TEST(TextFinding, HostRacesNameWhoTheyAreBetween) {
  Finding race;
  race.rule = "race-host";
  race.scope = RaceScope::Host;
  race.where = {"a.cu", 3, 5, 9};
  Access write, read;
  write.kind = AccessKind::Write;
  write.expr = "a[i]";
  write.by = "a kernel";
  read.by = "the host";
  race.accesses = {write, read};
  EXPECT_THAT(textOf(race), HasSubstr("      a kernel writes a[i]\n      the host reads  memory\n"));
}

TEST(TextFinding, AdviceIsAboutRequestsNotThreads) {
  Finding advice;
  advice.rule = "uncoalesced";
  advice.severity = Severity::Note;
  advice.where = {"a.cu", 3, 5, 9};
  advice.accesses.emplace_back();
  advice.count = 32;
  EXPECT_THAT(textOf(advice), HasSubstr("      in 32 requests of the run\n"));
  EXPECT_THAT(textOf(advice), testing::Not(HasSubstr("reads")));
}

TEST(TextFinding, AdviceOnHostCodeNeedsNoVerdict) {
  Finding advice;
  advice.rule = "launch-shape";
  advice.severity = Severity::Warning;
  advice.verdict = Verdict::Proved;
  advice.message = "blocks of 4 threads use 4 of a warp's 32 lanes";
  advice.where = at("a.cu", 3, 5);
  EXPECT_EQ(textOf(advice),
            "a.cu:3:5: warning: blocks of 4 threads use 4 of a warp's 32 lanes [launch-shape]\n");
}

TEST(TextFinding, WhoDoesWhat) {
  Finding race = bounds(0);
  race.rule = "race-host";
  race.scope = RaceScope::Host;
  Access kernel = accessOf(AccessKind::Atomic, 0, race.where, {1, 0, 0}, {2, 3, 4}, "x[i]");
  Access host;
  host.where = race.where;
  race.accesses = {kernel, host};
  EXPECT_THAT(textOf(race),
              AllOf(HasSubstr("      thread (2,3,4) of block (1,0,0) atomically updates x[i]\n"),
                    HasSubstr("      the host                        reads              z\n"),
                    Not(HasSubstr("at byte")))); // a race is about its accesses
  race.scope = RaceScope::InterBlock;
  race.accesses = {host, host};
  EXPECT_THAT(textOf(race), AllOf(HasSubstr("one thread     reads"), HasSubstr("another thread reads")));
}

TEST(TextFinding, PlacesAsFarAsKnown) {
  Finding finding = bounds(4000);
  finding.where = {};
  EXPECT_THAT(textOf(finding), testing::StartsWith("<program>: error: m [out-of-bounds]\n"));
  finding.where.file = "a.cu";
  EXPECT_THAT(textOf(finding), testing::StartsWith("a.cu: error: m"));
  finding.where.line = 3;
  EXPECT_THAT(textOf(finding), testing::StartsWith("a.cu:3: error: m"));
}

TEST(TextFinding, SecondAccessOnTheSameLineIsMarkedThere) {
  MemorySourceReader source;
  source.add("a.cu", "\n\n    a[i] = a[i + 1];\n");
  Finding race = bounds(0);
  race.rule = "race-global";
  race.where = at("a.cu", 3, 5, 9);
  race.accesses = {accessOf(AccessKind::Write, 0, race.where, {}, {}, "a[i]"),
                   accessOf(AccessKind::Read, 1, at("a.cu", 3, 12, 20), {}, {}, "a[i + 1]")};
  std::ostringstream out;
  text::writeFinding(race, {&source, false}, out);
  EXPECT_THAT(out.str(), AllOf(HasSubstr("    3 |     a[i] = a[i + 1];\n      |     ^~~~   ~~~~~~~~\n"),
                               Not(HasSubstr("note:"))));
}

TEST(TextReport, OneLineNamesAssumptions) {
  Sample sample = cleanSample();
  sample.report.kernels[0].properties[0].assumptions = {"pointer parameters do not overlap"};
  EXPECT_EQ(sample.text(),
            "no findings in 1 kernel (proved 4, refuted 0, unknown 0; assuming pointer parameters do "
            "not overlap); static 0.03 s, run 0.05 s\n");
}

TEST(TextReport, AssumptionsAboutSeveralLinesAreOne) {
  Sample sample = cleanSample();
  sample.report.kernels[0].properties[0].assumptions = {"the counter at line 12 does not overflow",
                                                        "pointer parameters do not overlap"};
  sample.report.kernels[0].properties[1].assumptions = {"the counter at line 7 does not overflow",
                                                        "the counter at line 30 does not overflow"};
  EXPECT_THAT(sample.text(),
              HasSubstr("; assuming the counter at lines 7, 12 and 30 does not overflow; pointer "
                        "parameters do not overlap)"));
}

TEST(TextReport, SuppressedFindingsAreOnlyCounted) {
  Sample sample = cleanSample();
  Finding finding = bounds(4000);
  finding.suppressed = true;
  sample.report.findings = {finding};
  EXPECT_THAT(sample.text(), testing::StartsWith("no findings, 1 suppressed in 1 kernel"));
}

TEST(TextReport, FindingsToldWithOthersAreCounted) {
  Sample sample = cleanSample();
  Finding race = bounds(4000);
  race.accesses.resize(2);
  sample.report.findings = {race, race, race, race};
  EXPECT_THAT(sample.text(), AllOf(HasSubstr("and the same with 1 place more"),
                                   HasSubstr("4 errors (3 of them told with others) in 1 kernel")));
}

TEST(TextReport, HowTheProgramEnded) {
  Sample sample = cleanSample();
  sample.report.run.exitStatus = 3;
  EXPECT_THAT(sample.text(), testing::StartsWith("the program ended with exit status 3\n"));
  sample.report.run.signal = 11;
  EXPECT_THAT(sample.text(), testing::StartsWith("the program was ended by signal 11\n"));
  sample.report.run.timedOut = true;
  EXPECT_THAT(sample.text(), testing::StartsWith("the program was stopped after 0.05 s: it had not ended\n"));
}

TEST(TextTable, BroadcastDoesNotMakeUpForScatter) {
  Sample sample = cleanSample();
  const std::string name = sample.report.kernels[0].name;
  sample.report.metrics = {
      metricOf(name, 0, at("vecadd.cu", 5, 3), AccessKind::Read, 1, 1, 1, 128), // broadcast
      metricOf(name, 1, at("vecadd.cu", 6, 3), AccessKind::Read, 1, 32, 4, 128)};
  EXPECT_THAT(sample.text(),
              AllOf(HasSubstr("15.2 % / -\n"), // 160 of 1056 bytes
                    HasSubstr("vecadd.cu:6:3: loads of memory: 12.5 %, 32 sectors per request, where 4 "
                              "would do\n"),
                    Not(HasSubstr("vecadd.cu:5:3"))));
}

TEST(TextTable, NoLineWhereNothingIsWastedOrAFindingSaysSo) {
  Sample sample = cleanSample();
  const std::string name = sample.report.kernels[0].name;
  sample.report.metrics = {metricOf(name, 0, at("vecadd.cu", 5, 3), AccessKind::Read, 1, 1, 1, 4), // one lane
                           metricOf(name, 1, at("vecadd.cu", 6, 3), AccessKind::Read, 1, 32, 4, 128)};
  Finding told;
  told.rule = "uncoalesced";
  told.severity = Severity::Note;
  told.where = at("vecadd.cu", 6, 3);
  told.accesses.emplace_back();
  sample.report.findings = {told};
  EXPECT_THAT(sample.text(), AllOf(HasSubstr("12.5 % / -\n"), Not(HasSubstr("loads of memory"))));
}

TEST(TextTable, WhatTheRunAloneAnswersIsNeitherUnknownNorSaidAgain) {
  Sample sample = cleanSample();
  KernelResult& kernel = sample.report.kernels[0];
  kernel.properties[3] = answer(Property::Initialized, Answer::Unknown, "not asked");
  kernel.properties[3].runAlone = true;
  kernel.properties[2] = answer(Property::InBounds, Answer::Unknown, "the size of `x` is not known");
  Launch launch;
  launch.kernel = kernel.symbol;
  sample.report.run.launches = {launch};
  EXPECT_THAT(sample.text(), AllOf(HasSubstr("unknown  no fault seen"), Not(HasSubstr("not asked"))));
  EXPECT_THAT(sample.text(), HasSubstr("the size of `x` is not known; the run saw no access outside\n"));
  EXPECT_EQ(summarize(sample.report).unknown, 1u);
}

TEST(TextTable, OneLinePerPlaceOverInstantiations) {
  Sample sample = cleanSample();
  Location where = at("vecadd.cu", 6, 3);
  sample.report.metrics = {metricOf("add<int>()", 0, where, AccessKind::Read, 1, 32, 4, 128),
                           metricOf("add<float>()", 1, where, AccessKind::Read, 1, 16, 4, 128)};
  EXPECT_THAT(sample.text(),
              HasSubstr("vecadd.cu:6:3: loads of memory: 16.7 %, 24 sectors per request, where 4 would do"));
}

TEST(TextTable, KernelsThatSayTheSameShareALine) {
  Sample sample = cleanSample();
  KernelResult other = sample.report.kernels[0];
  other.name = "sub(float *)";
  sample.report.kernels.push_back(other);
  for (KernelResult& kernel : sample.report.kernels)
    kernel.properties[2] =
        answer(Property::InBounds, Answer::Unknown, "the size of `x` is not known (line 5)");
  EXPECT_THAT(sample.text(),
              HasSubstr("bounds of `add(float *)` and `sub(float *)` unknown because the size of `x` is "
                        "not known (line 5)\n"));
}

TEST(TextTable, LongNamesAndManyLaunchesAreCut) {
  Sample sample = cleanSample();
  KernelResult& kernel = sample.report.kernels[0];
  kernel.name = std::string(200, 'x');
  kernel.properties[0].answer = Answer::Refuted;
  kernel.launches.push_back(launchOf("", {1, 2, 3}, {32, 8, 1}, {}));
  EXPECT_THAT(sample.text(),
              AllOf(HasSubstr("\n" + std::string(57, 'x') + "...  8 x 128, (1,2,3) x (32,8)  refuted")));
  kernel.launches.push_back(launchOf("", {9, 1, 1}, {32, 1, 1}, {}));
  EXPECT_THAT(sample.text(), HasSubstr("8 x 128 and 2 more"));
  Launch half;
  half.block = Dim3{64, 1, 1};
  kernel.launches = {half};
  EXPECT_THAT(sample.text(), HasSubstr("  * x 64  "));
}

TEST(TextWords, FiguresArePlain) {
  EXPECT_EQ(text::percent(100), "100 %");
  EXPECT_EQ(text::percent(12.5), "12.5 %");
  EXPECT_EQ(text::percent(33.333), "33.3 %");
  EXPECT_EQ(counted(1, "byte"), "1 byte");
  EXPECT_EQ(counted(0, "byte"), "0 bytes");
}

} // namespace
} // namespace kcheck::test
