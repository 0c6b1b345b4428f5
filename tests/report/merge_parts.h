// What both passes bring to a merge: one kernel with four sites, and findings of it.
#pragma once

#include "report/merge.h"
#include "samples.h"

namespace kcheck::test {

inline const std::string file = "k.cu";
inline const std::string kernelName = "k(int *)";
inline const std::string symbol = "_Z1kPi";

/// A kernel with two sites on line 5 (`c[0] += 1`: read 0, write 1) and one each on lines 7 (write 2) and 8
/// (read 3).
inline Facts facts() {
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

inline Access access(AccessKind kind, SiteId site) {
  Access made;
  made.kind = kind;
  made.site = site;
  return made;
}

inline Finding race(Verdict verdict, std::vector<Access> accesses, std::uint64_t count = 0) {
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

inline Finding tileRace(Verdict verdict, std::uint64_t count = 0) {
  return race(verdict, {access(AccessKind::Read, 3), access(AccessKind::Write, 2)}, count);
}

inline Finding simple(const std::string& rule, Verdict verdict, Location where) {
  Finding finding;
  finding.rule = rule;
  finding.verdict = verdict;
  finding.kernel = kernelName;
  finding.message = rule;
  finding.where = where;
  return finding;
}

inline StaticPart staticPart(std::vector<Finding> findings,
                             std::vector<PropertyResult> properties = allProved()) {
  StaticPart part;
  part.findings = std::move(findings);
  part.kernels = {{symbol, kernelName, at(file, 4, 17), {}, std::move(properties)}};
  part.seconds = 1;
  return part;
}

inline RunPart runPart(std::vector<Finding> findings, Dim3 grid = {8, 1, 1}, Dim3 block = {64, 1, 1}) {
  RunPart part;
  part.findings = std::move(findings);
  part.run.ran = true;
  part.run.launches = {launchOf(symbol, grid, block, at(file, 30, 3))};
  return part;
}

inline std::vector<PropertyResult> withRace(Answer race) {
  auto properties = allProved();
  properties[0].answer = race;
  if (race == Answer::Unknown) properties[0].reason = "line 5";
  return properties;
}

inline Report merged(std::vector<Finding> fromStatic, std::vector<Finding> fromRun,
                     MergeOptions options = {}) {
  return mergeReport(facts(), staticPart(std::move(fromStatic), withRace(Answer::Refuted)),
                     runPart(std::move(fromRun)), options);
}

} // namespace kcheck::test
