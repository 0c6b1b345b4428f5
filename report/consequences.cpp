#include "report/consequences.h"

#include "report/rules.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

namespace kcheck {
namespace {

bool sameArray(const MemoryFact& a, const MemoryFact& b) {
  return a.space == b.space && a.name == b.name && a.size == b.size && a.allocatedAt == b.allocatedAt;
}

/// Whether the race is between a read there of that memory, and another launch, copy or fill. It is told of
/// the one that came second.
bool readsEarly(const Finding& race, const Finding& read) {
  if (race.rule != "race-host" || race.count == 0) return false;
  if (race.memory && read.memory && !sameArray(*race.memory, *read.memory)) return false;
  auto reads = [&](const Access& access) {
    return access.kind != AccessKind::Write && access.where == read.where;
  };
  auto isElsewhere = [&](const Access& access) { return access.where != read.where; };
  return std::ranges::any_of(race.accesses, reads) && std::ranges::any_of(race.accesses, isElsewhere);
}

bool isRaceError(const Finding& finding) {
  const Rule* rule = findRule(finding.rule);
  return rule && rule->group == RuleGroup::Race && finding.severity == Severity::Error;
}

bool samePlace(const Location& a, const Location& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

bool isNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The array that an expression starts from: `a` of `a[i].x`; empty where it starts with something else.
std::string_view base(std::string_view expr) {
  auto end = std::ranges::find_if_not(expr, isNamePart);
  return expr.substr(0, static_cast<std::size_t>(end - expr.begin()));
}

/// What an index must hold to read what the threads race for: `a[` of `a[i].x`, all of `s.count`. Of `s[0]`
/// and an index `s.n`, an operator that is called and a member beside it, neither depends on the other.
std::string_view readAs(std::string_view expr) {
  const std::size_t bracket = expr.find('[');
  return bracket == expr.npos ? expr : expr.substr(0, bracket + 1);
}

bool reads(std::string_view text, std::string_view raced) {
  const std::string_view form = readAs(raced);
  const bool isName = isNamePart(form.back());
  for (std::size_t at = text.find(form); at != text.npos; at = text.find(form, at + 1)) {
    const std::size_t end = at + form.size();
    const bool starts = at == 0 || (!isNamePart(text[at - 1]) && text[at - 1] != '.' && text[at - 1] != '>');
    if (starts && (!isName || end == text.size() || !isNamePart(text[end]))) return true;
  }
  return false;
}

/// By what the source calls the memory that the threads race for; null when the finding does not depend on
/// it.
const Access* dependsOn(const Finding& finding, const Finding& race) {
  for (const Access& raced : race.accesses) {
    const std::string_view name = base(raced.expr);
    if (name.empty()) continue;
    if (finding.reason.find(fmt::format("the content of `{}`", name)) != std::string::npos) return &raced;
    for (const Access& access : finding.accesses) {
      const std::string_view index = std::string_view(access.expr).substr(base(access.expr).size());
      if (access.where != raced.where && reads(index, raced.expr)) return &raced;
    }
  }
  return nullptr;
}

/// Whether the name is one that the source gives an array, and not an expression that leads to it.
bool isPlain(std::string_view name) {
  return !name.empty() && name.find_first_of("([*+") == std::string_view::npos;
}

std::string overrunNote(const Finding& end, const MemoryFact& into) {
  const std::string& from = end.memory->name;
  const bool tellsApart = isPlain(into.name) && into.name != from;
  return fmt::format("`{}` runs past the end of {} here, into {}: mend that first", end.accesses[0].expr,
                     isPlain(from) ? "`" + from + "`" : "its array",
                     tellsApart ? "`" + into.name + "`" : "another array");
}

bool wasSeen(const Finding& finding, std::string_view rule) {
  return finding.rule == rule && finding.count > 0;
}

/// The thread's own variables are no longer what it made them.
bool overwritesLocals(const Finding& finding) {
  return wasSeen(finding, "out-of-bounds") && finding.memory && finding.memory->space == MemorySpace::Local &&
         !finding.accesses.empty() && finding.accesses[0].kind != AccessKind::Read;
}

bool mayBeOfOverwrittenLocals(const Finding& finding) {
  return finding.rule == "out-of-bounds" || finding.rule == "misaligned" ||
         finding.rule == "use-after-free" || finding.rule == "wrong-space" ||
         finding.rule == "uninitialized-read";
}

bool endsKernel(const Finding& finding) {
  return wasSeen(finding, "hang") || wasSeen(finding, "trap") || wasSeen(finding, "assert-failed");
}

/// A copy or fill that failed, so that nothing was written.
bool isFailedFill(const Finding& finding) {
  return finding.kernel.empty() && finding.memory &&
         (wasSeen(finding, "out-of-bounds") || wasSeen(finding, "wrong-space"));
}

/// What `cause` has to do with `finding` of the same kernel, whatever the memory is called; empty if nothing.
std::string whyItFollows(const Finding& finding, const Finding& cause) {
  if (finding.rule == "race-shared" && wasSeen(cause, "barrier-divergence"))
    return "some threads of the block do not come to the barrier here, which may be why nothing orders them: "
           "mend that first";
  const bool isSameFault = finding.rule == cause.rule && finding.memory && cause.memory &&
                           sameArray(*finding.memory, *cause.memory);
  if (mayBeOfOverwrittenLocals(finding) && overwritesLocals(cause) && !isSameFault)
    return fmt::format("`{}` lies outside of the local array `{}` here, and may overwrite other variables: "
                       "mend that first",
                       cause.accesses[0].expr, cause.memory->name);
  return "";
}

/// The same of what went wrong elsewhere in the program.
std::string whyItFollowsElsewhere(const Finding& finding, const Finding& cause) {
  if (finding.rule == "unwritten-output" && endsKernel(cause))
    return fmt::format("`{}` did not come to its end, because of this: mend that first", cause.kernel);
  if ((finding.rule == "unwritten-output" || finding.rule == "uninitialized-read") && isFailedFill(cause) &&
      finding.memory && sameArray(*finding.memory, *cause.memory) && cause.memory->allocatedAt.known())
    return "what should have filled it fails here: mend that first";
  return "";
}

bool mayFollow(const Finding& finding) {
  return finding.rule == "out-of-bounds" || finding.rule == "barrier-divergence" || finding.rule == "hang";
}

} // namespace

void dropAskewEnds(std::vector<Finding>& findings) {
  auto onlyAskew = [](const MemoryFact& memory) {
    if (!memory.offset || !memory.size || memory.bytes == 0) return false;
    auto bytes = static_cast<std::int64_t>(memory.bytes);
    std::int64_t askew = *memory.offset % bytes, aligned = *memory.offset - askew;
    return askew > 0 && aligned + bytes <= static_cast<std::int64_t>(*memory.size);
  };
  std::erase_if(findings, [&](const Finding& end) {
    if (end.rule != "out-of-bounds" || end.count || !end.memory || !onlyAskew(*end.memory)) return false;
    return std::ranges::any_of(findings, [&](const Finding& other) {
      return other.rule == "misaligned" && other.kernel == end.kernel && other.where == end.where;
    });
  });
}

void foldEarlyReads(std::vector<Finding>& findings) {
  std::vector<Finding> kept, early;
  for (Finding& finding : findings) {
    auto& into = finding.rule == "uninitialized-read" ? early : kept;
    into.push_back(std::move(finding));
  }
  for (Finding& read : early) {
    auto race = std::ranges::find_if(kept, [&](const Finding& other) { return readsEarly(other, read); });
    if (race == kept.end())
      kept.push_back(std::move(read));
    else
      race->notes.push_back({read.where, "in the run, some threads read here before anyone had written"});
  }
  findings = std::move(kept);
}

void dropSameValuesBesideRaces(std::vector<Finding>& findings) {
  auto isBeside = [](const Finding& note, const Finding& race) {
    return race.kernel == note.kernel && race.memory && note.memory &&
           sameArray(*race.memory, *note.memory) && !note.accesses.empty() &&
           std::ranges::any_of(race.accesses, [&](const Access& access) {
             return access.where == note.accesses.front().where && access.kind == AccessKind::Write;
           });
  };
  std::vector<Finding> races, ends;
  std::ranges::copy_if(findings, std::back_inserter(races), isRaceError);
  std::ranges::copy_if(findings, std::back_inserter(ends), [](const Finding& finding) {
    return finding.rule == "out-of-bounds" && finding.severity == Severity::Error;
  });
  auto isOutside = [](const Finding& note, const Finding& end) {
    return end.kernel == note.kernel && samePlace(end.where, note.where);
  };
  std::erase_if(findings, [&](const Finding& note) {
    const bool oneWrite = note.sameValue && note.severity == Severity::Note && note.accesses.size() == 2 &&
                          note.accesses[0].where == note.accesses[1].where;
    return oneWrite &&
           (std::ranges::any_of(races, [&](const Finding& race) { return isBeside(note, race); }) ||
            std::ranges::any_of(ends, [&](const Finding& end) { return isOutside(note, end); }));
  });
}

void noteOverruns(std::vector<Finding>& findings) {
  for (const Finding& end : findings) {
    if (end.rule != "out-of-bounds" || end.count == 0 || !end.memory || end.accesses.empty()) continue;
    for (Finding& race : findings) {
      if (!isRaceError(race) || race.kernel != end.kernel || !race.memory ||
          sameArray(*race.memory, *end.memory))
        continue;
      const bool overran = std::ranges::any_of(
          race.accesses, [&](const Access& access) { return access.where == end.accesses[0].where; });
      if (!overran || end.memory->name.empty()) continue;
      race.hint.clear(); // no order of theirs mends it
      race.notes.push_back({end.where, overrunNote(end, *race.memory)});
    }
  }
}

void noteFollowing(std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    if (finding.count == 0) continue;
    for (const Finding& cause : findings) {
      if (&cause == &finding) continue;
      std::string why = whyItFollowsElsewhere(finding, cause);
      if (why.empty() && cause.kernel == finding.kernel) why = whyItFollows(finding, cause);
      if (!why.empty()) {
        finding.notes.push_back({cause.where, std::move(why)});
        break;
      }
      if (cause.kernel != finding.kernel && finding.rule != "unwritten-output") continue;
      if (finding.rule == "unwritten-output" && cause.rule == "out-of-bounds" && finding.memory &&
          cause.memory && sameArray(*finding.memory, *cause.memory) && cause.memory->allocatedAt.known()) {
        finding.notes.push_back({cause.where,
                                 "some of what should be there was written elsewhere, here: mend that "
                                 "first"});
        break;
      }
      if (!mayFollow(finding) || !isRaceError(cause)) continue;
      if (const Access* raced = dependsOn(finding, cause)) {
        finding.notes.push_back(
            {cause.where, fmt::format("`{}`, on which this depends, is raced for here: mend that "
                                      "first",
                                      raced->expr)});
        break;
      }
    }
  }
}

} // namespace kcheck
