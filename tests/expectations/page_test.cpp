// The maker of pages, with programs and outputs made by hand.
#include "page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kcheck::expectations {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const PageSources sources{
    [](const std::string& file) {
      return file == "a.cu" ? std::string("c += 1; // expect: race-global // expect-efficiency: 25\n") : "";
    },
    [](const std::string& command) {
      return "out of " + command + "\n1 error (proved 2); static 0.74 s, run 0.00 s\n";
    }};

std::string made(const std::string& page) {
  std::vector<std::string> mistakes;
  std::string text = refreshed(page, sources, mistakes);
  EXPECT_THAT(mistakes, IsEmpty());
  return text;
}

std::vector<std::string> mistakesOf(const std::string& page) {
  std::vector<std::string> mistakes;
  refreshed(page, sources, mistakes);
  return mistakes;
}

TEST(Page, ProgramsAreShownWithoutExpectations) {
  EXPECT_EQ(made("a\n```cuda a.cu\nold\n```\nb\n"), "a\n```cuda a.cu\nc += 1;\n```\nb\n");
}

TEST(Page, CommandsAreFollowedByWhatTheyPrint) {
  EXPECT_EQ(made("```console\n$ ./kcheck a.cu\nold\nold\n$ ./kcheck --run b.cu\n```\n"),
            "```console\n$ ./kcheck a.cu\nout of ./kcheck a.cu\n1 error (proved 2)\n"
            "$ ./kcheck --run b.cu\nout of ./kcheck --run b.cu\n1 error (proved 2)\n```\n");
}

TEST(Page, OtherBlocksAndTextAreLeftAlone) {
  const std::string page = "# t\n\n```\n$ rm x\n```\n```cuda\nint x; // expect: hang\n```\n";
  EXPECT_EQ(made(page), page);
  EXPECT_FALSE(hasMadeBlocks(page));
  EXPECT_TRUE(hasMadeBlocks("```console\n```\n"));
  EXPECT_TRUE(hasMadeBlocks("```cuda a.cu\n```\n"));
}

TEST(Page, MistakesAreSaid) {
  EXPECT_THAT(mistakesOf("```cuda b.cu\n```\n"), ElementsAre(HasSubstr("no program b.cu")));
  EXPECT_THAT(mistakesOf("```console\n```\n"), ElementsAre(HasSubstr("without a command")));
  EXPECT_THAT(mistakesOf("```console\n$ ./kcheck a.cu\n$ rm x\n```\n"), ElementsAre(HasSubstr("`$ rm x`")));
  EXPECT_THAT(mistakesOf("```console\n$ ./kcheck a.cu\n"), ElementsAre(HasSubstr("never closed")));
}

TEST(Page, ALineThatIsAllExpectationGoes) {
  EXPECT_EQ(withoutExpectations("// expect-proved: race-free\n\nk(); // about it // expect-run: leak\n"),
            "\nk(); // about it\n");
}

TEST(Page, TimesGoAndReasonsStay) {
  EXPECT_EQ(withoutTimes("a\nno findings (proved 3); static 1.00 s, not run: --static\n"),
            "a\nno findings (proved 3); not run: --static\n");
  EXPECT_EQ(withoutTimes("no findings (run only); run 0.10 s\n"), "no findings (run only)\n");
}

} // namespace
} // namespace kcheck::expectations
