// The rules: everything that kcheck can report, in one table. The id here is the id in findings, in
// docs/rules/ID.md, in the fixtures' expectations and in every output format; a test holds them together.
// Also the sets of rules that `--checks=LIST` names.
#pragma once

#include "report/error.h"
#include "report/finding.h"

#include <bitset>
#include <span>
#include <string_view>

namespace kcheck {

enum class RuleGroup : std::uint8_t { Race, Sync, Memory, Init, Perf, Host };
const char* toString(RuleGroup group);

struct Rule {
  const char* id;
  const char* title;
  RuleGroup group;
  Severity severity;   ///< the most severe that a finding of the rule is; an analysis may say less
  const char* meaning; ///< one line for --list-rules

  /// Where its page stands in the source tree: docs/rules/ID.md.
  std::string page() const { return "docs/rules/" + std::string(id) + ".md"; }
};

/// All rules, by group and in the order in which they are listed.
std::span<const Rule> allRules();
std::span<const RuleGroup> allGroups();

/// The rule with this id, or null.
const Rule* findRule(std::string_view id);

/// The rule with this id; an unknown id is an error that suggests the nearest one.
OrError<const Rule*> ruleNamed(std::string_view id);

/// The rule's page as it was when kcheck was built, set for a terminal. Empty for an unknown id.
std::string explainRule(std::string_view id);

/// A page of docs/rules as a terminal shows it.
std::string setForTerminal(std::string_view page);

/// Which rules are asked for.
class RuleSet {
public:
  static constexpr std::size_t kCapacity = 64;

  static RuleSet all();
  static RuleSet none() { return {}; }

  bool has(std::string_view id) const;
  bool has(const Rule& rule) const { return members.test(indexOf(rule)); }
  bool hasAny(RuleGroup group) const;
  bool empty() const { return members.none(); }
  void insert(const Rule& rule) { members.set(indexOf(rule)); }
  void erase(const Rule& rule) { members.reset(indexOf(rule)); }
  friend bool operator==(const RuleSet&, const RuleSet&) = default;

private:
  static std::size_t indexOf(const Rule& rule);
  std::bitset<kCapacity> members;
};

/// Reads `--checks=LIST`: rules, groups and `all`, separated by commas; `-name` leaves out what is in so far.
/// A list that begins with `-name` starts from all rules.
OrError<RuleSet> parseRuleList(std::string_view list);

} // namespace kcheck
