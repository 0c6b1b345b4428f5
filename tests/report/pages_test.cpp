// Rules, their pages in docs/rules and the copies that are built in agree.
#include "report/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace kcheck {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

std::string pageOf(const Rule& rule) {
  std::ifstream in(fs::path(KCHECK_SOURCE_DIR) / rule.page());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// One space where the page breaks its lines.
std::string unwrapped(const std::string& page) {
  std::istringstream in(page);
  std::string text;
  for (std::string word; in >> word;) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(Pages, EveryRuleHasOneThatSaysWhatTheTableSays) {
  for (const Rule& rule : allRules()) {
    std::string page = pageOf(rule);
    SCOPED_TRACE(rule.page());
    EXPECT_THAT(page, StartsWith(std::string("# ") + rule.id + "\n"));
    std::string head =
        std::string(rule.title) + ". Group `" + toString(rule.group) + "`, " + toString(rule.severity) + ".";
    EXPECT_THAT(unwrapped(page), HasSubstr(head));
    EXPECT_THAT(unwrapped(page), HasSubstr(std::string("In short: ") + rule.meaning + "."));
    for (const char* section :
         {"What happens", "Wrong", "What kcheck prints", "Repair", "How sure kcheck is", "Other tools"})
      EXPECT_THAT(page, HasSubstr(std::string("\n## ") + section + "\n"));
    for (const char* part : {"\n```cuda ", "\n- Static: ", "\n- Run: "}) EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(Pages, NonePastTheTable) {
  for (const auto& entry : fs::directory_iterator(fs::path(KCHECK_SOURCE_DIR) / "docs/rules")) {
    std::string id = entry.path().stem();
    EXPECT_TRUE(id == "README" || findRule(id)) << entry.path().filename();
  }
}

TEST(Pages, AreSetForATerminal) {
  EXPECT_EQ(setForTerminal("# id\n\nText `x`.\n\n## Wrong\n```cuda id.cu\nint x;\n\n# 1\n```\n## Repair\n"),
            "id\n\nText `x`.\n\nWRONG\n    int x;\n\n    # 1\nREPAIR\n");
  for (const Rule& rule : allRules())
    EXPECT_THAT(explainRule(rule.id), testing::Not(HasSubstr("```"))) << rule.id;
}

TEST(Pages, AreBuiltIn) {
  for (const Rule& rule : allRules())
    EXPECT_EQ(explainRule(rule.id), setForTerminal(pageOf(rule))) << rule.id;
  EXPECT_EQ(explainRule("no-such-rule"), "");
}

} // namespace
} // namespace kcheck
