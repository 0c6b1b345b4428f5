// The runner itself can fail: each kind of wrong expectation is fed to it, with a report made by hand.
#include "expectation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kcheck::expectations {
namespace {

using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json finding(unsigned line, const std::string& rule, const std::string& verdict = "confirmed") {
  return {{"rule", rule},       {"severity", "error"}, {"verdict", verdict}, {"message", "it races"},
          {"file", "dir/a.cu"}, {"line", line},        {"suppressed", false}};
}

Json kernel(unsigned line, const std::string& raceFree, const std::string& reason = "") {
  return {{"name", "k(int *)"},
          {"file", "dir/a.cu"},
          {"line", line},
          {"properties",
           {{{"property", "race-free"}, {"verdict", raceFree}, {"reason", reason}},
            {{"property", "in-bounds"}, {"verdict", "proved"}, {"reason", ""}}}}};
}

Json metric(unsigned line, const std::string& access, double efficiency,
            const std::string& space = "global") {
  return {{"file", "dir/a.cu"},
          {"line", line},
          {"access", access},
          {"space", space},
          {"from", "run"},
          {"efficiency", efficiency},
          {"sectors_per_request", 32.0},
          {"bank_ways", 4}};
}

Json report(std::vector<Json> findings, std::vector<Json> kernels = {}, std::vector<Json> metrics = {}) {
  int errors = int(findings.size());
  return {{"kernels", std::move(kernels)},
          {"findings", std::move(findings)},
          {"metrics", std::move(metrics)},
          {"internal", Json::array()},
          {"summary", {{"errors", errors}}}};
}

const std::string withMain = "int main() {}\n";

std::vector<std::string> compared(const std::string& text, const Json& json) {
  return compare(parse(text), "a.cu", json);
}

TEST(Findings, AsExpected) {
  EXPECT_THAT(compared(withMain + "c += 1; // expect: race-global\n", report({finding(2, "race-global")})),
              IsEmpty());
  EXPECT_THAT(compared(withMain, report({})), IsEmpty());
}

TEST(Findings, MissingFailsAndShowsTheLine) {
  EXPECT_THAT(compared(withMain + "c += 1; // expect: race-global\n", report({})),
              ElementsAre(AllOf(HasSubstr("a.cu:2: missing: expected race-global by both passes"),
                                HasSubstr("    2 | c += 1; // expect: race-global"))));
}

TEST(Findings, ExtraFailsWhateverItsSeverity) {
  Json note = finding(2, "uncoalesced");
  note["severity"] = "note";
  EXPECT_THAT(compared(withMain + "c += 1;\n", report({note})),
              ElementsAre(HasSubstr("a.cu:2: extra: it races [uncoalesced, note, confirmed]")));
}

TEST(Findings, WrongLineFailsTwiceAndSaysWhere) {
  EXPECT_THAT(
      compared(withMain + "c += 1; // expect: race-global\nd += 1;\n", report({finding(3, "race-global")})),
      ElementsAre(
          HasSubstr("missing: expected race-global by both passes (confirmed); race-global is on line 3"),
          HasSubstr("a.cu:3: extra")));
}

TEST(Findings, WrongRuleFails) {
  EXPECT_THAT(compared(withMain + "c += 1; // expect: race-shared\n", report({finding(2, "race-global")})),
              ElementsAre(HasSubstr("missing: expected race-shared"), HasSubstr("extra")));
}

TEST(Findings, AnotherFileIsExtra) {
  Json other = finding(2, "race-global");
  other["file"] = "dir/b.h";
  EXPECT_THAT(compared(withMain + "c += 1; // expect: race-global\n", report({other})),
              ElementsAre(HasSubstr("missing"), HasSubstr("dir/b.h:2: extra")));
}

TEST(Findings, SuppressedCountsAsAbsent) {
  Json suppressed = finding(2, "race-global");
  suppressed["suppressed"] = true;
  EXPECT_THAT(compared(withMain + "c += 1; // expect: race-global\n", report({suppressed})),
              testing::SizeIs(1));
}

TEST(Findings, SeveralRulesOnOneLine) {
  const std::string text =
      withMain + "c += 1; // expect: race-global, out-of-bounds // expect-run: misaligned\n";
  EXPECT_THAT(compared(text, report({finding(2, "race-global"), finding(2, "out-of-bounds"),
                                     finding(2, "misaligned", "observed")})),
              IsEmpty());
  EXPECT_THAT(compared(text, report({finding(2, "race-global"), finding(2, "misaligned", "observed")})),
              ElementsAre(HasSubstr("missing: expected out-of-bounds")));
}

TEST(Verdicts, PlainWantsBothPasses) {
  const std::string text = withMain + "c += 1; // expect: race-global\n";
  for (const char* verdict : {"observed", "proved", "possible"})
    EXPECT_THAT(compared(text, report({finding(2, "race-global", verdict)})),
                ElementsAre(AllOf(HasSubstr("wrong verdict"), HasSubstr(std::string("got ") + verdict))));
}

TEST(Verdicts, OnePassAlone) {
  const std::string byStatic = withMain + "c += 1; // expect-static: race-global\n";
  EXPECT_THAT(compared(byStatic, report({finding(2, "race-global", "possible")})), IsEmpty());
  EXPECT_THAT(compared(byStatic, report({finding(2, "race-global", "confirmed")})), testing::SizeIs(1));
  const std::string byRun = withMain + "c += 1; // expect-run: race-global\n";
  EXPECT_THAT(compared(byRun, report({finding(2, "race-global", "observed")})), IsEmpty());
  EXPECT_THAT(compared(byRun, report({finding(2, "race-global", "proved")})), testing::SizeIs(1));
}

TEST(Verdicts, FollowTheFilesPasses) {
  const std::string line = "c += 1; // expect: race-global\n";
  EXPECT_THAT(compared(line, report({finding(1, "race-global", "proved")})), IsEmpty());
  EXPECT_THAT(compared(line, report({finding(1, "race-global", "confirmed")})), IsEmpty()); // by a replay
  EXPECT_THAT(compared(line, report({finding(1, "race-global", "observed")})), testing::SizeIs(1));
  EXPECT_THAT(compared("// main()\n" + line, report({finding(2, "race-global", "proved")})), IsEmpty());
  EXPECT_THAT(
      compared("// launch: k<<<1,2>>>(int[1])\n" + line, report({finding(2, "race-global", "proved")})),
      testing::SizeIs(1));
  EXPECT_THAT(compared("// kcheck: --run\n" + line, report({finding(2, "race-global", "observed")})),
              IsEmpty());
  EXPECT_THAT(
      compared("// kcheck: --static\n" + withMain + line, report({finding(3, "race-global", "proved")})),
      IsEmpty());
}

TEST(Verdicts, LaterIsAllowedButNotAskedFor) {
  const std::string text = withMain + "c += 1; // expect-later: uncoalesced\n";
  EXPECT_THAT(compared(text, report({})), IsEmpty());
  EXPECT_THAT(compared(text, report({finding(2, "uncoalesced", "observed")})), IsEmpty());
  EXPECT_THAT(compared(text, report({finding(2, "bank-conflict")})), testing::SizeIs(1));
}

TEST(Anywhere, WantsTheRuleOnSomeLineAndNoOther) {
  const std::string text = withMain + "// expect-anywhere: race-global\n" + "c += 1;\nc += 2;\n";
  EXPECT_THAT(compared(text, report({finding(4, "race-global", "observed")})), IsEmpty());
  EXPECT_THAT(compared(text, report({finding(3, "race-global"), finding(4, "race-global")})), IsEmpty());
  EXPECT_THAT(compared(text, report({})),
              ElementsAre(HasSubstr("missing: expected race-global on any line")));
  EXPECT_THAT(compared(text, report({finding(3, "race-global"), finding(4, "leak")})),
              ElementsAre(HasSubstr("extra")));
  EXPECT_THAT(parse("c += 1; // expect-anywhere: race-global\n").mistakes,
              ElementsAre(HasSubstr("line of its own")));
}

const std::string twoKernels = "// expect-proved: race-free, in-bounds\n"
                               "template <class T>\n"
                               "__global__ void k(T* x) {}\n"
                               "__global__ void j(int* x) {}\n";

TEST(Proofs, Kept) {
  EXPECT_THAT(compared(twoKernels, report({}, {kernel(3, "proved"), kernel(4, "refuted")})), IsEmpty());
}

TEST(Proofs, LostFailsWithTheReason) {
  EXPECT_THAT(
      compared(twoKernels, report({}, {kernel(3, "unknown", "the loop of line 7")})),
      ElementsAre(AllOf(HasSubstr("a.cu:3: lost: expected `k(int *)` to be proved race-free, got unknown"),
                        HasSubstr("the loop of line 7"))));
}

TEST(Proofs, EveryInstantiationCounts) {
  EXPECT_THAT(compared(twoKernels, report({}, {kernel(3, "proved"), kernel(3, "refuted")})),
              testing::SizeIs(1));
}

TEST(Proofs, AKernelThatIsNotThereIsNoProof) {
  EXPECT_THAT(compared(twoKernels, report({}, {kernel(4, "proved")})),
              ElementsAre(HasSubstr("no such kernel")));
  EXPECT_THAT(compared(twoKernels, report({})), ElementsAre(HasSubstr("no such kernel")));
}

TEST(Proofs, PropertyWithoutAnAnswerFails) {
  EXPECT_THAT(
      compared("// expect-proved: initialized\n__global__ void k() {}\n", report({}, {kernel(2, "proved")})),
      ElementsAre(HasSubstr("got no answer")));
}

TEST(Figures, ExactAndPerAccess) {
  const std::string all = withMain + "x = y; // expect-efficiency: 25\n";
  EXPECT_THAT(compared(all, report({}, {}, {metric(2, "load", 25), metric(2, "store", 25)})), IsEmpty());
  EXPECT_THAT(compared(all, report({}, {}, {metric(2, "load", 25), metric(2, "store", 100)})),
              ElementsAre(HasSubstr("wrong figure: expected efficiency 25, got 100 for the store (run)")));
  const std::string each = withMain + "x = y; // expect-efficiency: load 25 store 100\n";
  EXPECT_THAT(compared(each, report({}, {}, {metric(2, "load", 25), metric(2, "store", 100)})), IsEmpty());
  EXPECT_THAT(compared(each, report({}, {}, {metric(2, "load", 25.2), metric(2, "store", 100)})),
              testing::SizeIs(1));
}

TEST(Figures, MissingMetricFails) {
  EXPECT_THAT(
      compared(withMain + "x = y; // expect-efficiency: 25\n", report({}, {}, {metric(1, "load", 25)})),
      ElementsAre(HasSubstr("no metric of a global access")));
}

TEST(Figures, SectorsAndBankWays) {
  const std::string text = withMain + "x = y; // expect-sectors: load 32 // expect-bank-ways: 4\n";
  EXPECT_THAT(compared(text, report({}, {}, {metric(2, "load", 25), metric(2, "store", 0, "shared")})),
              IsEmpty());
  const std::string wrong = withMain + "x = y; // expect-sectors: load 8 // expect-bank-ways: 1\n";
  EXPECT_THAT(compared(wrong, report({}, {}, {metric(2, "load", 25), metric(2, "store", 0, "shared")})),
              ElementsAre(HasSubstr("sectors_per_request 8, got 32"), HasSubstr("bank_ways 1, got 4")));
}

TEST(Report, InternalErrorsAlwaysFail) {
  Json json = report({});
  json["internal"] = {"the passes disagree"};
  EXPECT_THAT(compared(withMain, json), ElementsAre(HasSubstr("the passes disagree")));
}

TEST(Report, ExitStatusMustFit) {
  Expectations expected = parse(withMain);
  EXPECT_EQ(checkExitStatus(expected, 0, report({})), std::nullopt);
  EXPECT_EQ(checkExitStatus(expected, 1, report({finding(1, "race-global")})), std::nullopt);
  EXPECT_NE(checkExitStatus(expected, 0, report({finding(1, "race-global")})), std::nullopt);
  EXPECT_NE(checkExitStatus(expected, 1, report({})), std::nullopt);
  EXPECT_THAT(*checkExitStatus(expected, 3, report({})), HasSubstr("no finding explains it"));
  EXPECT_EQ(checkExitStatus(parse("// kcheck: --fail-on=never\n"), 0, report({finding(1, "race-global")})),
            std::nullopt);
  EXPECT_NE(checkExitStatus(parse("// kcheck: --fail-on=never\n"), 2, report({})), std::nullopt);
}

std::vector<std::string> mistakes(const std::string& text) { return parse(text).mistakes; }

TEST(Mistakes, AreNeverIgnored) {
  EXPECT_THAT(mistakes("c += 1; // expect: race-glbal\n"),
              ElementsAre(HasSubstr("did you mean `race-global`?")));
  EXPECT_THAT(mistakes("c += 1; // expect:\n"), ElementsAre(HasSubstr("names no rule")));
  EXPECT_THAT(mistakes("c += 1; // expect-stat: race-global\n"), ElementsAre(HasSubstr("no `expect-stat:`")));
  EXPECT_THAT(mistakes("// expect: race-global\n"), ElementsAre(HasSubstr("end of the line")));
  EXPECT_THAT(mistakes("// expect-proved: race-free\n"), ElementsAre(HasSubstr("no kernel follows")));
  EXPECT_THAT(mistakes("// expect-proved: race-fre\n__global__ void k();\n"), testing::SizeIs(2));
  EXPECT_THAT(mistakes("__global__ void k(); // expect-proved: race-free\n"),
              ElementsAre(HasSubstr("line of its own")));
  EXPECT_THAT(mistakes("x = y; // expect-efficiency: 25 %\n"), ElementsAre(HasSubstr("`%` is no figure")));
  EXPECT_THAT(mistakes("x = y; // expect-efficiency: load\n"), ElementsAre(HasSubstr("wants a figure")));
  EXPECT_THAT(mistakes("x = y; // expect-run: leak\n"), ElementsAre(HasSubstr("the file has no run")));
  EXPECT_THAT(compared("c += 1; // expect: race-glbal\n", report({})),
              ElementsAre(HasSubstr("own expectations")));
}

TEST(Parsing, StringsAndBlockCommentsAreNotExpectations) {
  EXPECT_THAT(
      parse(
          "f(\"// expect: race-global\"); /* // expect: leak */\n/* int main() {}\n// expect: hang\n*/ x;\n")
          .findings,
      IsEmpty());
  EXPECT_EQ(parse("/* int main() {} */ const char* s = \"main()\";\n").passes, Passes::Static);
  EXPECT_EQ(parse("const int n = 1'000'000; // expect-static: launch-shape\nint main() {}\n").findings.size(),
            1u);
}

TEST(Parsing, DirectivesShareALine) {
  Expectations expected =
      parse("x; // expect-efficiency: load 25 // expect-later: uncoalesced\nint main(){}\n");
  EXPECT_THAT(expected.mistakes, IsEmpty());
  EXPECT_EQ(expected.figures.size(), 1u);
  EXPECT_EQ(expected.findings.size(), 1u);
  EXPECT_EQ(expected.findings[0].from, From::Later);
}

} // namespace
} // namespace kcheck::expectations
