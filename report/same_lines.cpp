#include "report/same_lines.h"

#include "report/rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace kcheck {
namespace {

using Line = std::pair<std::string, unsigned>;
using Lines =
    std::tuple<std::string, std::string, Severity, RaceScope, RaceKind, MemorySpace, std::string, Line, Line>;

Line lineOf(const Location& where) { return {where.file, where.line}; }

bool isRaceOfTwo(const Finding& finding) {
  const Rule* rule = findRule(finding.rule);
  return rule && rule->group == RuleGroup::Race && finding.memory && finding.accesses.size() == 2 &&
         finding.accesses[0].where.known() && finding.accesses[1].where.known();
}

Lines linesOf(const Finding& finding) {
  return {finding.rule,
          finding.kernel,
          finding.severity,
          finding.scope,
          finding.kind,
          finding.memory->space,
          finding.memory->name,
          lineOf(finding.accesses[0].where),
          lineOf(finding.accesses[1].where)};
}

auto place(const Finding& finding) {
  const Location &first = finding.accesses[0].where, &second = finding.accesses[1].where;
  return std::tuple(first.line, first.column, second.line, second.column);
}

bool comesBefore(const Finding& a, const Finding& b) {
  if (a.verdict != b.verdict) return a.verdict > b.verdict;
  return place(a) < place(b);
}

std::string andMore(std::size_t others, const Finding& finding) {
  const unsigned first = finding.accesses[0].where.line, second = finding.accesses[1].where.line;
  const std::string where =
      first == second ? "this line"
                      : fmt::format("lines {} and {}", std::min(first, second), std::max(first, second));
  return fmt::format("the same goes for {} more {} of accesses in {}", others, others == 1 ? "pair" : "pairs",
                     where);
}

} // namespace

void joinOfSameLines(std::vector<Finding>& findings) {
  std::map<Lines, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < findings.size(); ++i)
    if (isRaceOfTwo(findings[i])) alike[linesOf(findings[i])].push_back(i);
  std::set<std::size_t> gone;
  for (auto& [lines, list] : alike) {
    if (list.size() < 2) continue;
    const std::size_t kept = *std::ranges::min_element(
        list, [&](std::size_t a, std::size_t b) { return comesBefore(findings[a], findings[b]); });
    for (std::size_t i : list) {
      if (i == kept) continue;
      gone.insert(i);
      findings[kept].count += findings[i].count;
    }
    findings[kept].notes.push_back({findings[kept].where, andMore(list.size() - 1, findings[kept])});
  }
  std::vector<Finding> rest;
  for (std::size_t i = 0; i < findings.size(); ++i)
    if (!gone.contains(i)) rest.push_back(std::move(findings[i]));
  findings = std::move(rest);
}

} // namespace kcheck
