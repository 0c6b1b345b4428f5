// One finding in words: clang's header line, the source with caret, who does what, how sure kcheck is,
// further places, and the repair.
#include "report/rules.h"
#include "report/snippet.h"
#include "report/text_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace kcheck::text {

namespace {

constexpr const char* kIndent = "      ";
constexpr const char* kMemory = "memory"; // that has no name

Style styleOf(Severity severity) {
  switch (severity) {
  case Severity::Error: return Style::Red;
  case Severity::Warning: return Style::Magenta;
  case Severity::Note: return Style::Cyan;
  }
  return Style::Plain;
}

/// Expectations (docs/expectations.md) are for tests to read.
std::string withoutExpectations(const std::string& line) {
  std::size_t at = line.find("// expect");
  while (at != std::string::npos) {
    std::size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at + 3);
    if (end != std::string::npos && line[end] == ':')
      return line.substr(0, line.find_last_not_of(' ', at - 1) + 1);
    at = line.find("// expect", at + 1);
  }
  return line;
}

void writeSnippet(const Location& where, const std::vector<ColumnRange>& others, const TextOptions& options,
                  std::ostream& out) {
  if (!options.source || !where.known()) return;
  auto line = options.source->line(where.file, where.line);
  if (!line) return;
  Snippet snippet = makeSnippet(withoutExpectations(*line), {where.column, where.endColumn}, others);
  std::string number = fmt::format("{:>5}", where.line);
  Paint paint(options.colour);
  out << fmt::format("{} | {}\n", number, snippet.text);
  if (!snippet.marks.empty())
    out << fmt::format("{} | {}\n", std::string(number.size(), ' '), paint(Style::Green, snippet.marks));
}

void writeHeader(const Location& where, Severity severity, const std::string& message,
                 const std::string& rule, const TextOptions& options, std::ostream& out) {
  Paint paint(options.colour);
  std::string id = rule.empty() ? "" : fmt::format(" [{}]", rule);
  out << paint(Style::Bold, place(where) + ":") << ' '
      << paint(styleOf(severity), std::string(toString(severity)) + ":") << ' ' << paint(Style::Bold, message)
      << id << '\n';
}

std::string who(const Finding& finding, std::size_t i) {
  const Access& access = finding.accesses[i];
  if (access.thread && access.block)
    return fmt::format("thread {} of block {}", index(*access.thread), index(*access.block));
  if (access.thread) return fmt::format("thread {}", index(*access.thread));
  if (access.block) return fmt::format("a thread of block {}", index(*access.block));
  if (!access.by.empty()) return access.by;
  if (finding.scope == RaceScope::Host || finding.kernel.empty()) return "the host";
  return i == 0 ? "one thread" : "another thread";
}

const char* does(const Access& access) {
  if (access.by == kByFree || access.by == kByFreeAtOnce) return "frees";
  switch (access.kind) {
  case AccessKind::Read: return "reads";
  case AccessKind::Write: return "writes";
  case AccessKind::Atomic: return access.loadsOnly ? "atomically reads" : "atomically updates";
  }
  return "?";
}

const char* isDone(const Access& access) {
  if (access.by == kByFree || access.by == kByFreeAtOnce) return "freed";
  switch (access.kind) {
  case AccessKind::Read: return "read";
  case AccessKind::Write: return "written";
  case AccessKind::Atomic: return access.loadsOnly ? "atomically read" : "atomically updated";
  }
  return "?";
}

std::string exprOf(const Finding& finding, const Access& access) {
  if (!access.expr.empty()) return access.expr;
  if (finding.memory && !finding.memory->name.empty()) return finding.memory->name;
  return kMemory;
}

bool isAdvice(const Finding& finding) {
  const Rule* rule = findRule(finding.rule);
  return rule && rule->group == RuleGroup::Perf;
}

std::string quotedExprOf(const Finding& finding, const Access& access) {
  std::string expr = exprOf(finding, access);
  return expr == kMemory ? expr : "`" + expr + "`";
}

void writeAccesses(const Finding& finding, std::ostream& out) {
  if (isAdvice(finding)) return; // about all threads of a warp
  std::size_t widestWho = 0, widestVerb = 0;
  for (std::size_t i = 0; i < finding.accesses.size(); ++i) {
    widestWho = std::max(widestWho, who(finding, i).size());
    widestVerb = std::max(widestVerb, std::string_view(does(finding.accesses[i])).size());
  }
  for (std::size_t i = 0; i < finding.accesses.size(); ++i) {
    const Access& access = finding.accesses[i];
    std::string value = access.value.empty() ? "" : ": " + access.value;
    out << fmt::format("{}{:<{}} {:<{}} {}{}\n", kIndent, who(finding, i), widestWho, does(access),
                       widestVerb, exprOf(finding, access), value);
  }
}

std::string nameOf(const MemoryFact& memory) {
  return memory.name.empty() ? "the allocation" : fmt::format("`{}`", memory.name);
}

/// ": 4 bytes past its end": where an access outside of its memory lies.
std::string outside(const MemoryFact& memory) {
  if (!memory.offset || !memory.size) return "";
  std::int64_t offset = *memory.offset, size = std::int64_t(*memory.size),
               end = offset + std::int64_t(memory.bytes);
  if (offset < 0) return fmt::format(": {} before its start", counted(std::uint64_t(-offset), "byte"));
  if (offset == size) return ": right behind its end";
  if (offset > size) return fmt::format(": {} past its end", counted(std::uint64_t(offset - size), "byte"));
  if (end > size)
    return fmt::format(": the last {} past its end", counted(std::uint64_t(end - size), "byte"));
  return "";
}

/// The bytes that a memory finding is about; a race is about its accesses.
bool showsBytes(const Finding& finding) {
  const Rule* rule = findRule(finding.rule);
  return finding.memory && finding.memory->offset && finding.memory->bytes &&
         !(rule && rule->group == RuleGroup::Race) && finding.rule != "unwritten-output";
}

void writeBytes(const Finding& finding, std::ostream& out) {
  if (!showsBytes(finding)) return;
  const MemoryFact& memory = *finding.memory;
  std::string what = counted(memory.bytes, "byte");
  std::string size = memory.size ? fmt::format(", which has {}", counted(*memory.size, "byte")) : "";
  out << fmt::format("{}{} at byte {} of {}{}{}\n", kIndent, what, *memory.offset, nameOf(memory), size,
                     outside(memory));
}

std::string timesSeen(const Finding& finding) {
  std::uint64_t count = finding.count;
  if (isAdvice(finding) && !finding.accesses.empty())
    return fmt::format("in {} of the run", counted(count, "request"));
  if (count == 1) return "seen in the run once";
  return fmt::format("seen in the run {} times", count);
}

std::string verdictInWords(const Finding& finding) {
  // What the static pass held for possible is not proved by being seen.
  const char* how = finding.verdict == Verdict::Confirmed && !finding.reason.empty() ? "possible" : "proved";
  std::string proved = finding.holdsFor.empty() ? "" : fmt::format("{} for {}", how, finding.holdsFor);
  switch (finding.verdict) {
  case Verdict::Proved: return proved.empty() ? "proved" : proved;
  case Verdict::Possible:
    return finding.reason.empty() ? "possible" : "possible: the witness leans on " + finding.reason;
  case Verdict::Observed: return finding.count ? timesSeen(finding) : "seen in the run";
  case Verdict::Confirmed: break;
  }
  std::string seen = finding.count ? timesSeen(finding) : "a replay of the witness shows it";
  return proved.empty() ? seen + ", as the static pass says (confirmed)"
                        : fmt::format("{}; {} (confirmed)", proved, seen);
}

/// Advice on launches and host code is a fact of the source: "proved" would say nothing.
bool verdictMatters(const Finding& finding) {
  if (finding.severity == Severity::Error || finding.verdict != Verdict::Proved) return true;
  return !finding.holdsFor.empty();
}

bool sameLine(const Location& a, const Location& b) { return a.file == b.file && a.line == b.line; }

/// The accesses on the primary line that are not the primary expression itself.
std::vector<ColumnRange> otherRanges(const Finding& finding) {
  std::vector<ColumnRange> ranges;
  for (const Access& access : finding.accesses)
    if (sameLine(access.where, finding.where) && access.where.column != finding.where.column)
      ranges.push_back({access.where.column, access.where.endColumn});
  return ranges;
}

void writeFurtherPlaces(const Finding& finding, const TextOptions& options, std::ostream& out) {
  std::vector<Location> shown{finding.where};
  auto note = [&](const Location& where, const std::string& message) {
    writeHeader(where, Severity::Note, message, "", options, out);
    bool again = std::ranges::any_of(shown, [&](const Location& other) { return other == where; });
    if (!again) writeSnippet(where, {}, options, out);
    shown.push_back(where);
  };
  for (const Access& access : finding.accesses)
    if (access.where.known() && !sameLine(access.where, finding.where))
      note(access.where, fmt::format("{} is {} here", quotedExprOf(finding, access), isDone(access)));
  for (const RelatedNote& related : finding.notes) note(related.where, related.message);
  if (!finding.memory || !finding.memory->allocatedAt.known() || finding.memory->allocatedAt == finding.where)
    return;
  const MemoryFact& memory = *finding.memory;
  bool inSource = memory.space == MemorySpace::Shared || memory.space == MemorySpace::Local ||
                  memory.space == MemorySpace::Constant;
  const char* made = inSource ? "declared here" : "allocated here";
  bool saidBefore = showsBytes(finding); // its size
  note(memory.allocatedAt, memory.size && !saidBefore ? fmt::format("{} has {}, {}", nameOf(memory),
                                                                    counted(*memory.size, "byte"), made)
                                                      : fmt::format("{} is {}", nameOf(memory), made));
}

void writeAlsoIn(const Finding& finding, std::ostream& out) {
  if (finding.alsoIn.empty()) return;
  constexpr std::size_t kShown = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(kShown, finding.alsoIn.size()); ++i)
    names += fmt::format("{}`{}`", i ? ", " : "", finding.alsoIn[i]);
  if (finding.alsoIn.size() > kShown) names += fmt::format(" and {} more", finding.alsoIn.size() - kShown);
  out << kIndent << "in `" << finding.kernel << "`, and also in " << names << '\n';
}

} // namespace

bool saysTheSame(const Finding& finding, const Finding& other) {
  return finding.rule == other.rule && finding.where == other.where && finding.message == other.message &&
         finding.severity == other.severity && finding.kernel == other.kernel &&
         finding.accesses.size() == 2 && other.accesses.size() == 2;
}

void writeAlsoWith(const Finding& finding, const TextOptions& options, std::ostream& out) {
  const Access& second = finding.accesses[1];
  writeHeader(second.where, Severity::Note,
              fmt::format("the same with {}, which is {} here: {}", quotedExprOf(finding, second),
                          isDone(second), verdictInWords(finding)),
              "", options, out);
}

bool advisesTheSame(const Finding& finding, const Finding& other) {
  auto reasons = [](const Finding& advice) {
    std::vector<std::string> words;
    for (const RelatedNote& note : advice.notes) words.push_back(note.message);
    return words;
  };
  return isAdvice(finding) && finding.rule == other.rule && finding.kernel == other.kernel &&
         finding.severity == other.severity && finding.hint == other.hint && finding.alsoIn == other.alsoIn &&
         reasons(finding) == reasons(other) && finding.accesses.size() == 1 && other.accesses.size() == 1;
}

void writeAlsoAt(const Finding& finding, const Finding& other, bool isNext, const TextOptions& options,
                 std::ostream& out) {
  const std::string expr = quotedExprOf(finding, finding.accesses[0]);
  const bool isSame = finding.message == other.message;
  std::string message = isSame ? "the same of " + expr : fmt::format("{}, of {}", finding.message, expr);
  if (!isNext)
    message += isSame ? fmt::format(" as in line {}", other.where.line)
                      : fmt::format("; the hint of line {} holds here, too", other.where.line);
  writeHeader(finding.where, finding.severity, message, finding.rule, options, out);
}

void writeFurtherPartners(std::size_t count, std::ostream& out) {
  out << kIndent << fmt::format("and the same with {} more\n", counted(count, "place"));
}

void writeFinding(const Finding& finding, const TextOptions& options, std::ostream& out) {
  writeHeader(finding.where, finding.severity, finding.message, finding.rule, options, out);
  writeSnippet(finding.where, otherRanges(finding), options, out);
  writeAccesses(finding, out);
  writeBytes(finding, out);
  if (verdictMatters(finding)) out << kIndent << verdictInWords(finding) << '\n';
  writeAlsoIn(finding, out);
  writeFurtherPlaces(finding, options, out);
  if (!finding.hint.empty()) out << kIndent << "hint: " << finding.hint << '\n';
}

} // namespace kcheck::text
