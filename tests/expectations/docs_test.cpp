// The pages of docs/ show programs and outputs as they are: a page whose made blocks (page.h) are stale
// fails, and
//   KCHECK_UPDATE_GOLDEN=1 ctest -L docs
// writes them anew. Also: every rule's page shows its own finding, and every lesson is complete.
#include "child.h"
#include "expectation.h"
#include "page.h"

#include "report/rules.h"
#include "source_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

namespace kcheck::expectations {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path root = KCHECK_SOURCE_DIR;

/// Pages with blocks that are made.
std::vector<std::string> madePages() {
  std::vector<std::string> pages{"README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") pages.push_back(fs::relative(entry.path(), root).string());
  std::erase_if(pages, [](const std::string& page) { return !hasMadeBlocks(contentOf(root / page)); });
  std::ranges::sort(pages);
  return pages;
}

std::string caseName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(0, info.param.size() - 3);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

/// As a user sees it in the root of a checkout; with the headers that kcheck ships, so that the text does not
/// depend on the machine.
std::string outputOf(const std::string& command) {
  std::string line = fmt::format("cd '{}' && '{}' --cuda-path=none {}", root.string(), KCHECK_PROGRAM,
                                 command.substr(std::string("./kcheck ").size()));
  ChildResult child = runChild({"/bin/sh", "-c", line}, 240);
  EXPECT_FALSE(child.timedOut) << line;
  EXPECT_NE(child.status, 2) << line << "\n" << child.output;
  return child.output;
}

class Docs : public testing::TestWithParam<std::string> {};

TEST_P(Docs, ShowWhatIs) {
  fs::path path = root / GetParam();
  PageSources sources{[&](const std::string& file) { return contentOf(path.parent_path() / file); },
                      outputOf};
  std::vector<std::string> mistakes;
  std::string before = contentOf(path), now = refreshed(before, sources, mistakes);
  for (const std::string& mistake : mistakes) ADD_FAILURE() << GetParam() << ": " << mistake;
  if (before == now) return;
  if (std::getenv("KCHECK_UPDATE_GOLDEN"))
    std::ofstream(path, std::ios::binary) << now;
  else
    EXPECT_EQ(before, now) << GetParam()
                           << " is stale; KCHECK_UPDATE_GOLDEN=1 ctest -L docs accepts the new text";
}

INSTANTIATE_TEST_SUITE_P(Pages, Docs, testing::ValuesIn(madePages()), caseName);

bool expectsLater(const std::string& program, const std::string& rule) {
  return std::ranges::any_of(parse(program).findings, [&](const ExpectedFinding& one) {
    return one.rule == rule && one.from == From::Later;
  });
}

TEST(RulePages, ShowTheirOwnFinding) {
  for (const Rule& rule : allRules()) {
    std::string page = contentOf(root / rule.page());
    std::string program = contentOf(root / fmt::format("docs/rules/{}.cu", rule.id));
    SCOPED_TRACE(rule.id);
    EXPECT_THAT(page, HasSubstr(fmt::format("\n```cuda {}.cu\n", rule.id)));
    EXPECT_THAT(page, HasSubstr("\n## What kcheck prints\n"));
    const bool shows = page.find("```console") != std::string::npos;
    if (shows)
      EXPECT_THAT(page, AllOf(HasSubstr(fmt::format("\n```console\n$ ./kcheck docs/rules/{}.cu\n", rule.id)),
                              HasSubstr(fmt::format(" [{}]\n", rule.id))));
    else // a rule that is still to come has no output to show, and its page says so
      EXPECT_TRUE(expectsLater(program, rule.id) &&
                  page.find("does not report this yet") != std::string::npos);
  }
}

std::vector<fs::path> lessons() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root / "docs/course"))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::ranges::sort(folders);
  return folders;
}

TEST(Course, HasEightLessonsThatItsPageLists) {
  std::string contents = contentOf(root / "docs/course/README.md");
  EXPECT_EQ(lessons().size(), 8u);
  for (const fs::path& lesson : lessons())
    EXPECT_THAT(contents, HasSubstr("](" + lesson.filename().string() + "/README.md)"));
}

TEST(Course, EveryLessonHasItsParts) {
  for (const fs::path& lesson : lessons()) {
    SCOPED_TRACE(lesson.filename());
    std::string page = contentOf(lesson / "README.md");
    std::string here = fs::relative(lesson, root).string();
    EXPECT_THAT(page, HasSubstr("\n```cuda "));
    EXPECT_THAT(page, HasSubstr("\n```console\n$ ./kcheck "));
    EXPECT_THAT(page, HasSubstr("\n## Exercise\n"));
    EXPECT_THAT(page, HasSubstr("./kcheck " + here + "/exercise.cu"));
    EXPECT_THAT(page, HasSubstr("(solution.cu)"));

    Expectations exercise = parse(contentOf(lesson / "exercise.cu"));
    EXPECT_FALSE(exercise.findings.empty()) << "the exercise shows nothing";
    for (const ExpectedFinding& finding : exercise.findings)
      EXPECT_TRUE(finding.anywhere) << "an exercise does not point at its mistakes";
    EXPECT_TRUE(parse(contentOf(lesson / "solution.cu")).findings.empty());
  }
}

} // namespace
} // namespace kcheck::expectations
