// The table of rules, the words of --checks=LIST, and what a misspelt one was meant to be.
#include "report/nearest.h"
#include "report/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace kcheck {
namespace {

using testing::HasSubstr;

TEST(Rules, IdsAreUniqueAndEveryGroupHasSome) {
  std::set<std::string> ids;
  std::set<RuleGroup> groups;
  for (const Rule& rule : allRules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id << " stands twice";
    groups.insert(rule.group);
    EXPECT_NE(*rule.title, 0) << rule.id;
    EXPECT_NE(*rule.meaning, 0) << rule.id;
  }
  EXPECT_EQ(groups.size(), allGroups().size());
}

TEST(Rules, SeveritiesOfTheContract) {
  EXPECT_EQ(findRule("race-global")->severity, Severity::Error);
  EXPECT_EQ(findRule("leak")->severity, Severity::Warning);
  EXPECT_EQ(findRule("unchecked-error")->severity, Severity::Warning);
  for (const Rule& rule : allRules()) {
    bool advice = rule.group == RuleGroup::Perf || rule.group == RuleGroup::Host;
    if (advice) EXPECT_NE(rule.severity, Severity::Error) << rule.id;
  }
}

TEST(Rules, LookUp) {
  ASSERT_NE(findRule("hang"), nullptr);
  EXPECT_EQ(findRule("hang")->group, RuleGroup::Sync);
  EXPECT_EQ(findRule("Hang"), nullptr);
  EXPECT_EQ(findRule(""), nullptr);
  auto unknown = ruleNamed("race-glbal");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean `race-global`?"));
  EXPECT_THAT(ruleNamed("zzzzzzzz").error().message, HasSubstr("--list-rules"));
}

TEST(RuleList, RulesGroupsAndAll) {
  auto set = parseRuleList("race,out-of-bounds");
  ASSERT_TRUE(set);
  EXPECT_TRUE((*set).has("race-warp"));
  EXPECT_TRUE((*set).has("out-of-bounds"));
  EXPECT_FALSE((*set).has("misaligned"));
  EXPECT_FALSE((*set).has("no-such-rule"));
  EXPECT_TRUE((*set).hasAny(RuleGroup::Memory));
  EXPECT_FALSE((*set).hasAny(RuleGroup::Perf));
  EXPECT_EQ(*parseRuleList("all"), RuleSet::all());
  EXPECT_EQ(*parseRuleList("race,memory,init,sync,perf,host"), RuleSet::all());
}

TEST(RuleList, MinusLeavesOutInOrder) {
  auto set = parseRuleList("race, -race-warp");
  ASSERT_TRUE(set);
  EXPECT_TRUE((*set).has("race-global"));
  EXPECT_FALSE((*set).has("race-warp"));
  auto fromAll = parseRuleList("-perf,-host");
  ASSERT_TRUE(fromAll);
  EXPECT_TRUE((*fromAll).has("leak"));
  EXPECT_FALSE((*fromAll).has("uncoalesced"));
  EXPECT_TRUE((*parseRuleList("-perf,bank-conflict")).has("bank-conflict"));
}

TEST(RuleList, BadListsSayWhy) {
  EXPECT_THAT(parseRuleList("").error().message, HasSubstr("empty"));
  EXPECT_THAT(parseRuleList("race,,memory").error().message, HasSubstr("empty entry"));
  EXPECT_THAT(parseRuleList("memry").error().message, HasSubstr("did you mean `memory`?"));
  EXPECT_THAT(parseRuleList("all,-race-shred").error().message, HasSubstr("did you mean `race-shared`?"));
  EXPECT_THAT(parseRuleList("race,-race").error().message, HasSubstr("leaves out every rule"));
}

TEST(Nearest, DistanceCountsEdits) {
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("race", "race"), 0u);
  EXPECT_EQ(editDistance("raec", "race"), 1u); // neighbours swapped
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
}

TEST(Nearest, OnlyWhatIsNear) {
  EXPECT_EQ(nearestWord("--formt", {"--format", "--fix"}), "--format");
  EXPECT_EQ(nearestWord("uncoal", {"uncoalesced", "leak"}), "uncoalesced");
  EXPECT_EQ(nearestWord("banana", {"uncoalesced", "leak"}), std::nullopt);
}

} // namespace
} // namespace kcheck
