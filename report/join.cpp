// Findings of both passes become one list, each thing once.
#include "report/join.h"

#include "report/hints.h"
#include "report/rules.h"

#include <algorithm>
#include <tuple>

namespace kcheck {

namespace {

bool isIn(const Finding& finding, RuleGroup group) {
  const Rule* rule = findRule(finding.rule);
  return rule && rule->group == group;
}

auto start(const Location& where) { return std::tie(where.file, where.line, where.column); }
bool samePlace(const Location& a, const Location& b) { return start(a) == start(b); }

bool writes(const Access& access) { return access.kind != AccessKind::Read; }

/// Of a note that says which values the first and the second thread have, when the two have changed places.
void exchangeThreads(std::string& note) {
  const std::string first = kFirstThreadHas, second = kSecondThreadHas;
  const std::size_t one = note.find(first), other = note.find(second);
  if (one == note.npos && other == note.npos) return;
  const std::size_t begin = std::min(one, other);
  std::string ofFirst, ofSecond;
  if (one != note.npos)
    ofFirst =
        note.substr(one + first.size(), other == note.npos ? note.npos : other - 2 - one - first.size());
  if (other != note.npos) ofSecond = note.substr(other + second.size());
  note.resize(begin);
  if (!ofSecond.empty()) note += first + ofSecond;
  if (!ofFirst.empty()) note += (ofSecond.empty() ? "" : "; ") + second + ofFirst;
}

/// Puts the access first that the report points at.
void choosePrimary(Finding& finding) {
  if (finding.accesses.size() < 2) return;
  auto before = [](const Access& a, const Access& b) {
    if (writes(a) != writes(b)) return writes(a);
    return start(a.where) < start(b.where);
  };
  Access& first = finding.accesses[0];
  Access& second = finding.accesses[1];
  if (before(second, first)) {
    std::swap(first, second);
    for (RelatedNote& note : finding.notes) exchangeThreads(note.message);
  }
  if (first.where.known()) finding.where = first.where;
}

void fillFromSite(Access& access, const Facts& facts) {
  if (access.site >= facts.sites.size()) return;
  const Site& site = facts.sites[access.site];
  if (!access.where.known()) access.where = site.where;
  if (access.where.endColumn == 0 && samePlace(access.where, site.where)) access.where = site.where;
  if (access.expr.empty()) access.expr = site.expr;
}

/// The more a rule's name says of a race, the higher: of one pair of places the widest scope is told.
int rank(const Finding& finding) {
  if (finding.rule == "race-scope") return 3;
  if (finding.rule == "race-host") return 2;
  return finding.rule == "race-warp" ? 0 : 1;
}

bool samePair(const Finding& a, const Finding& b) {
  if (a.accesses.size() < 2 || b.accesses.size() < 2) return samePlace(a.where, b.where);
  auto same = [&](std::size_t i, std::size_t j) {
    return samePlace(a.accesses[0].where, b.accesses[i].where) &&
           samePlace(a.accesses[1].where, b.accesses[j].where);
  };
  return same(0, 1) || same(1, 0);
}

bool sameSites(const Finding& a, const Finding& b) {
  auto sites = [](const Finding& finding) {
    std::vector<SiteId> ids;
    for (const Access& access : finding.accesses) ids.push_back(access.site);
    std::ranges::sort(ids);
    return ids;
  };
  return sites(a) == sites(b);
}

/// Whether a barrier finding speaks of this place.
bool mentions(const Finding& finding, const Location& where) {
  return samePlace(finding.where, where) ||
         std::ranges::any_of(finding.accesses, [&](const Access& a) { return samePlace(a.where, where); });
}

/// Threads wait at two barriers, and each pass may point at the other one.
bool sameBarriers(const Finding& a, const Finding& b) {
  return a.rule == b.rule && isIn(a, RuleGroup::Sync) && (mentions(a, b.where) || mentions(b, a.where));
}

/// Atomics of too narrow a scope at one place are one mistake, whichever other atomic they meet.
bool sameScopeFault(const Finding& a, const Finding& b) {
  auto atomicsOnly = [](const Finding& finding) {
    return finding.rule == "race-scope" && finding.accesses.size() == 2 &&
           std::ranges::all_of(finding.accesses,
                               [](const Access& access) { return access.kind == AccessKind::Atomic; });
  };
  return atomicsOnly(a) && atomicsOnly(b) && a.kernel == b.kernel && samePlace(a.where, b.where);
}

/// Which of two findings of one pass tells the story.
bool tellsMore(const Finding& a, const Finding& b) {
  auto weight = [](const Finding& finding) {
    // A null pointer read past the end of an array (`list[n]->next`): where it was read is the mistake.
    return std::tuple(finding.verdict == Verdict::Possible ? 0 : 1, finding.severity, rank(finding),
                      finding.kind == RaceKind::ReadWrite ? 1 : 0,
                      finding.accesses.size() < 2 && finding.memory && finding.memory->offset ? 1 : 0);
  };
  return weight(a) > weight(b);
}

void addKernels(Finding& to, const Finding& from) {
  auto add = [&](const std::string& kernel) {
    bool known =
        kernel.empty() || kernel == to.kernel || std::ranges::find(to.alsoIn, kernel) != to.alsoIn.end();
    if (!known) to.alsoIn.push_back(kernel);
  };
  add(from.kernel);
  for (const std::string& kernel : from.alsoIn) add(kernel);
}

void absorb(Finding& kept, Finding other) {
  // The same two instructions in another kernel or launch add up; another pair on the same expression (`c +=
  // 1` reads and writes) is another view of the same events.
  std::uint64_t count = kept.kernel != other.kernel || sameSites(kept, other) || sameScopeFault(kept, other)
                            ? kept.count + other.count
                            : std::max(kept.count, other.count);
  bool sameValue = kept.sameValue && other.sameValue;
  if (tellsMore(other, kept)) std::swap(kept, other);
  kept.count = count;
  kept.sameValue = sameValue;
  kept.severity = std::max(kept.severity, other.severity);
  kept.suppressed = kept.suppressed && other.suppressed;
  if (saysMore(other.hint, kept.hint)) kept.hint = other.hint;
  if (!kept.memory) kept.memory = other.memory;
  addKernels(kept, other);
}

void fillMemory(std::optional<MemoryFact>& memory, const std::optional<MemoryFact>& other) {
  if (!memory) {
    memory = other;
    return;
  }
  if (!other) return;
  if (memory->space == MemorySpace::Generic) memory->space = other->space;
  if (memory->name.empty()) memory->name = other->name;
  if (!memory->size) memory->size = other->size;
  if (!memory->allocatedAt.known()) memory->allocatedAt = other->allocatedAt;
}

/// The run's threads, values and words are one consistent story, so they stay together; the static pass adds
/// for which launches it holds, and what the run does not know.
Finding confirmed(const Finding& fromStatic, Finding fromRun) {
  Finding joined = std::move(fromRun);
  joined.verdict = Verdict::Confirmed;
  bool threadsOfRun = !joined.accesses.empty();
  const std::string fromRunRule = joined.rule;
  if (fromStatic.rule == "race-scope")
    joined.rule = fromStatic.rule; // names the cause, where the run saw an effect
  if (joined.rule == "race-warp" && fromStatic.verdict == Verdict::Proved &&
      fromStatic.scope > joined.scope) {
    joined.rule = fromStatic.rule; // the run stops at the first pair of threads, here two of one warp
    joined.scope = fromStatic.scope;
    joined.message = fromStatic.message;
    joined.accesses = fromStatic.accesses;
    threadsOfRun = false;
  }
  // What orders two lanes of a warp does not order the warps that the static pass sees there as well.
  if (fromRunRule == "race-warp" && fromStatic.scope > RaceScope::IntraWarp && !fromStatic.hint.empty())
    joined.hint = fromStatic.hint;
  const bool sawSame =
      joined.sameValue && fromStatic.storesShuffled && fromStatic.verdict == Verdict::Possible;
  if (!sawSame) joined.severity = std::max(joined.severity, fromStatic.severity);
  if (joined.sameValue && !fromStatic.sameValue && fromStatic.verdict == Verdict::Proved) {
    joined.message = fromStatic.message; // with other data the values differ
    joined.hint = fromStatic.hint;
  }
  joined.sameValue = joined.sameValue && (fromStatic.sameValue || sawSame);
  if (joined.message.empty()) joined.message = fromStatic.message;
  if (joined.where.endColumn == 0 && samePlace(joined.where, fromStatic.where))
    joined.where = fromStatic.where;
  if (joined.scope == RaceScope::None) joined.scope = fromStatic.scope;
  if (joined.kind == RaceKind::None) joined.kind = fromStatic.kind;
  if (joined.accesses.empty()) joined.accesses = fromStatic.accesses;
  for (Access& access : joined.accesses)
    for (const Access& other : fromStatic.accesses)
      if (access.kind == other.kind && samePlace(access.where, other.where)) {
        if (access.expr.empty()) access.expr = other.expr;
        if (access.where.endColumn == 0) access.where.endColumn = other.where.endColumn;
      }
  fillMemory(joined.memory, fromStatic.memory);
  joined.holdsFor = fromStatic.holdsFor;
  joined.reason = fromStatic.verdict == Verdict::Possible ? fromStatic.reason : "";
  if (joined.notes.empty() && !threadsOfRun) joined.notes = fromStatic.notes; // the values of its own threads
  // Only the static pass knows why addresses are far apart.
  if (isIn(joined, RuleGroup::Perf) && !fromStatic.hint.empty()) {
    joined.notes = fromStatic.notes;
    joined.hint = fromStatic.hint;
  }
  if (isIn(joined, RuleGroup::Host)) { // and only it knows the host's names
    joined.message = fromStatic.message;
    joined.notes = fromStatic.notes;
    joined.hint = fromStatic.hint;
  }
  if (saysMore(fromStatic.hint, joined.hint)) joined.hint = fromStatic.hint;
  addKernels(joined, fromStatic);
  return joined;
}

} // namespace

void normalize(Finding& finding, const Facts& facts, bool strict) {
  for (Access& access : finding.accesses) fillFromSite(access, facts);
  if (!finding.where.known() && !finding.accesses.empty()) finding.where = finding.accesses[0].where;
  if (const Kernel* kernel = facts.kernel(finding.kernel)) finding.kernel = kernel->name;
  const Rule* rule = findRule(finding.rule);
  if (rule) finding.severity = std::min(finding.severity, rule->severity);
  if (!isIn(finding, RuleGroup::Race)) return;
  choosePrimary(finding);
  if (finding.kind == RaceKind::WriteWrite && finding.sameValue)
    finding.severity = strict ? Severity::Error : Severity::Note;
}

bool sameThing(const Finding& a, const Finding& b) {
  bool races = isIn(a, RuleGroup::Race) && isIn(b, RuleGroup::Race);
  if (races && (a.rule == "race-host") == (b.rule == "race-host"))
    return samePair(a, b) || sameScopeFault(a, b);
  if (a.rule != b.rule) return false;
  if (!a.where.known() || !b.where.known()) return a.where == b.where && a.message == b.message;
  return samePlace(a.where, b.where);
}

std::vector<Finding> withoutDuplicates(std::vector<Finding> findings) {
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    auto same = std::ranges::find_if(kept, [&](const Finding& other) { return sameThing(finding, other); });
    if (same == kept.end())
      kept.push_back(std::move(finding));
    else
      absorb(*same, std::move(finding));
  }
  return kept;
}

std::vector<Finding> joinPasses(std::vector<Finding> fromStatic, std::vector<Finding> fromRun) {
  std::vector<bool> used(fromStatic.size()), seen(fromRun.size());
  auto join = [&](auto matches) {
    for (std::size_t r = 0; r < fromRun.size(); ++r)
      for (std::size_t s = 0; s < fromStatic.size(); ++s) {
        if (used[s] || seen[r] || !matches(fromStatic[s], fromRun[r])) continue;
        used[s] = seen[r] = true;
        fromRun[r] = confirmed(fromStatic[s], std::move(fromRun[r]));
      }
  };
  join(sameThing);
  join(sameBarriers);
  for (std::size_t s = 0; s < fromStatic.size(); ++s)
    if (!used[s]) fromRun.push_back(std::move(fromStatic[s]));
  return fromRun;
}

} // namespace kcheck
