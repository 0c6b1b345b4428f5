// Whole reports, text and JSON, against tests/report/golden.
#include "golden.h"
#include "samples.h"

namespace kcheck::test {
namespace {

TEST(GoldenText, CounterOfTheDesign) { expectGolden("counter.txt", counterSample().text()); }
TEST(GoldenText, OneLineWhenThereIsNothingToSay) { expectGolden("clean.txt", cleanSample().text()); }
TEST(GoldenText, OneOfEverything) { expectGolden("mixed.txt", mixedSample().text()); }
TEST(GoldenText, Colours) { expectGolden("colour.txt", counterSample().text(true)); }
TEST(GoldenText, RunAlone) {
  Sample sample = counterSample();
  sample.report.ranStatic = false;
  sample.report.findings[0].verdict = Verdict::Observed;
  for (PropertyResult& property : sample.report.kernels[0].properties)
    if (property.answer == Answer::Proved) property.answer = Answer::Unknown;
  sample.report.run.launches = sample.report.kernels[0].launches;
  expectGolden("run_alone.txt", sample.text());
}
TEST(GoldenText, OrdersThatWereCutShortAreSaid) {
  Sample sample = cleanSample();
  sample.report.run.cutShort = {"add(float *)", "sum(float *)"};
  expectGolden("cut_short.txt", sample.text());
}
TEST(GoldenText, StaticAloneSaysWhyItDidNotRun) {
  Sample sample = cleanSample();
  sample.report.run = {};
  sample.report.run.notRunBecause = "vecadd.cu has neither main nor a launch line";
  expectGolden("static_alone.txt", sample.text());
}
TEST(GoldenText, DisagreementIsLoud) {
  Sample sample = cleanSample();
  sample.report.disagreements = {"the run saw a race at vecadd.cu:5:3 that was proved absent"};
  expectGolden("disagreement.txt", sample.text());
}

TEST(GoldenJson, Counter) { expectGolden("counter.json", counterSample().json()); }
TEST(GoldenJson, OneOfEverything) { expectGolden("mixed.json", mixedSample().json()); }
TEST(GoldenJson, StaticAlone) {
  Sample sample = cleanSample();
  sample.report.run = {};
  sample.report.run.notRunBecause = "vecadd.cu has neither main nor a launch line";
  expectGolden("static_alone.json", sample.json());
}

TEST(Deterministic, TheSameReportGivesTheSameBytes) {
  EXPECT_EQ(mixedSample().text(), mixedSample().text());
  EXPECT_EQ(mixedSample().json(), mixedSample().json());
}

} // namespace
} // namespace kcheck::test
