// The table of kernels of each file, and below it the reasons of every unknown, the reach and the assumptions
// of the proofs.
#include "report/rules.h"
#include "report/text_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace kcheck::text {

namespace {

constexpr std::size_t kWidestName = 60;

struct Column {
  Property property;
  const char* title;
  const char* noun; ///< in a sentence: "races of `k`"
};
constexpr Column kColumns[] = {{Property::RaceFree, "races", "races"},
                               {Property::BarriersUniform, "barriers", "barriers"},
                               {Property::InBounds, "bounds", "bounds"},
                               {Property::Initialized, "initialized", "initialization"}};

const char* nounOf(Property property) {
  for (const Column& column : kColumns)
    if (column.property == property) return column.noun;
  return "?";
}

struct Cell {
  std::string text;
  Style style = Style::Plain;
};
using Row = std::vector<Cell>;

void writeRows(const std::vector<Row>& rows, const Paint& paint, std::ostream& out) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].text.size());
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i) line += "  ";
      line += paint(row[i].style, row[i].text);
      if (i + 1 < row.size()) line.append(widths[i] - row[i].text.size(), ' ');
    }
    out << line << '\n';
  }
}

std::string shortened(const std::string& name) {
  return name.size() <= kWidestName ? name : name.substr(0, kWidestName - 3) + "...";
}

std::string launchText(const Launch& launch) {
  if (launch.grid.unknown() && launch.block.unknown()) return "any";
  return fmt::format("{} x {}", toString(launch.grid), toString(launch.block));
}

std::string launchCell(const KernelResult& kernel, const Report& report) {
  std::vector<std::string> texts;
  auto add = [&](const Launch& launch) {
    std::string text = launchText(launch);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  };
  for (const Launch& launch : kernel.launches) add(launch);
  if (texts.empty())
    for (const Launch& launch : report.run.launches)
      if (launch.kernel == kernel.symbol) add(launch);
  if (texts.empty()) return "-";
  if (texts.size() == 1) return texts[0];
  if (texts.size() == 2) return texts[0] + ", " + texts[1];
  return fmt::format("{} and {} more", texts[0], texts.size() - 1);
}

bool launchedInRun(const KernelResult& kernel, const Report& report) {
  return std::ranges::any_of(report.run.launches,
                             [&](const Launch& launch) { return launch.kernel == kernel.symbol; });
}

Cell answerCell(const KernelResult& kernel, Property property, const Report& report) {
  auto found = std::ranges::find(kernel.properties, property, &PropertyResult::property);
  if (found == kernel.properties.end()) return {"-"};
  switch (found->answer) {
  case Answer::Proved: return {"proved", Style::Green};
  case Answer::Refuted: return {"refuted", Style::Red};
  case Answer::Unknown: break;
  }
  if (report.ranStatic && !found->runAlone) return {"unknown", Style::Magenta};
  return {launchedInRun(kernel, report) ? "no fault seen" : "not run"};
}

/// Properties of kernels for which the same can be said: "races and bounds of `a` and `b`".
struct Statement {
  std::vector<std::string> properties;
  std::vector<std::string> kernels;
  std::string sentence;
  std::string subject() const { return listed(properties) + " of " + listed(kernels); }
};

/// Groups by kernel and sentence first, then joins kernels that say the same. `sentenceOf` gives an empty
/// string for a property about which there is nothing to say.
template <typename SentenceOf>
std::vector<Statement> statementsOf(const std::vector<const KernelResult*>& kernels, SentenceOf sentenceOf) {
  std::vector<Statement> all;
  for (const KernelResult* kernel : kernels) {
    std::vector<Statement> own;
    for (const PropertyResult& property : kernel->properties) {
      std::string sentence = sentenceOf(*kernel, property);
      if (sentence.empty()) continue;
      auto same = std::ranges::find(own, sentence, &Statement::sentence);
      if (same == own.end())
        same = own.insert(own.end(), {{}, {"`" + shortened(kernel->name) + "`"}, sentence});
      same->properties.push_back(nounOf(property.property));
    }
    for (Statement& statement : own) {
      auto same = std::ranges::find_if(all, [&](const Statement& other) {
        return other.sentence == statement.sentence && other.properties == statement.properties;
      });
      if (same == all.end())
        all.push_back(std::move(statement));
      else
        same->kernels.push_back(statement.kernels.front());
    }
  }
  return all;
}

/// Whether the run has a finding of the kernel that a property is about, if only a note.
bool sawOne(const KernelResult& kernel, Property property, const Report& report) {
  return std::ranges::any_of(report.findings, [&](const Finding& finding) {
    if (finding.kernel != kernel.name || finding.count == 0) return false;
    const Rule* rule = findRule(finding.rule);
    switch (property) {
    case Property::RaceFree: return rule && rule->group == RuleGroup::Race;
    case Property::BarriersUniform:
      return finding.rule == "barrier-divergence" || finding.rule == "warp-mask" || finding.rule == "hang";
    case Property::InBounds: return finding.rule == "out-of-bounds";
    case Property::Initialized: return finding.rule == "uninitialized-read";
    }
    return false;
  });
}

/// What the run says where the static pass does not know.
const char* seenNone(Property property) {
  switch (property) {
  case Property::RaceFree: return "; the run saw none";
  case Property::BarriersUniform: return "; in the run, all threads reached theirs";
  case Property::InBounds: return "; the run saw no access outside";
  case Property::Initialized: break;
  }
  return "; the run saw nothing wrong";
}

/// The first of the reasons, of which JSON has all, and how many more there are. What holds all the same is
/// the last.
std::string firstReasons(const PropertyResult& property) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> reasons;
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 2) {
    end = property.reason.find("; ", at);
    reasons.push_back(property.reason.substr(at, end - at));
  }
  const std::size_t kept = property.onlySameValue ? 1 : 0;
  if (reasons.size() <= kShown + kept) return property.reason;
  std::string text;
  for (std::size_t i = 0; i < kShown; ++i) text += reasons[i] + "; ";
  text += fmt::format("and {} more", reasons.size() - kShown - kept);
  return kept ? text + "; " + reasons.back() : text;
}

void writeStatements(const std::vector<const KernelResult*>& kernels, const Report& report,
                     std::ostream& out) {
  auto unknown = statementsOf(kernels, [&](const KernelResult& kernel, const PropertyResult& property) {
    if (property.answer != Answer::Unknown || property.runAlone || !report.ranStatic) return std::string();
    bool none = launchedInRun(kernel, report) && !sawOne(kernel, property.property, report);
    return firstReasons(property) + (none ? seenNone(property.property) : "");
  });
  for (const Statement& statement : unknown)
    out << fmt::format("{} unknown because {}\n", statement.subject(), statement.sentence);
  auto proved = statementsOf(kernels, [](const KernelResult&, const PropertyResult& property) {
    bool says = property.answer == Answer::Proved && property.holdsFor != "the launches";
    return says ? property.holdsFor : std::string();
  });
  for (const Statement& statement : proved)
    out << fmt::format("{} proved for {}\n", statement.subject(), statement.sentence);
}

void writeTable(const std::vector<const KernelResult*>& kernels, const Report& report, const Paint& paint,
                std::ostream& out) {
  Row head{{"kernel"}, {"launch"}};
  for (const Column& column : kColumns) head.push_back({column.title});
  head.push_back({"global loads / stores"});
  std::vector<Row> rows{head};
  for (const KernelResult* kernel : kernels) {
    Row row{{shortened(kernel->name)}, {launchCell(*kernel, report)}};
    for (const Column& column : kColumns) row.push_back(answerCell(*kernel, column.property, report));
    row.push_back({globalTraffic(*kernel, report)});
    rows.push_back(std::move(row));
  }
  writeRows(rows, paint, out);
}

void writeLibraryLine(const std::vector<const KernelResult*>& silent, const Report& report,
                      std::ostream& out) {
  if (silent.empty() || !report.ranStatic) return;
  const auto ran = std::ranges::count_if(
      silent, [&](const KernelResult* kernel) { return launchedInRun(*kernel, report); });
  const std::string seen = !report.run.ran ? ""
                           : ran           ? fmt::format(": it launched {} and saw nothing wrong", ran)
                                           : ": it launched none";
  out << fmt::format("{} from the headers of libraries {} left to the run{}\n",
                     counted(silent.size(), "kernel"), silent.size() == 1 ? "is" : "are", seen);
}

} // namespace

bool tablesMatter(const Report& report) {
  bool open = std::ranges::any_of(report.kernels, [&](const KernelResult& kernel) {
    return isSilentLibraryKernel(report, kernel) ||
           std::ranges::any_of(kernel.properties, [&](const PropertyResult& property) {
             return property.answer == Answer::Refuted ||
                    (property.answer == Answer::Unknown && !property.runAlone && report.ranStatic);
           });
  });
  return open || anyWasteful(report);
}

void writeTables(const Report& report, const Paint& paint, std::ostream& out) {
  std::vector<std::string> files;
  std::vector<const KernelResult*> told, silent;
  for (const KernelResult& kernel : report.kernels)
    (isSilentLibraryKernel(report, kernel) ? silent : told).push_back(&kernel);
  for (const KernelResult* kernel : told)
    if (std::ranges::find(files, kernel->where.file) == files.end()) files.push_back(kernel->where.file);
  for (const std::string& file : files) {
    std::vector<const KernelResult*> kernels;
    for (const KernelResult* kernel : told)
      if (kernel->where.file == file) kernels.push_back(kernel);
    if (files.size() > 1) out << paint(Style::Bold, (file.empty() ? "<program>" : file) + ":") << '\n';
    writeTable(kernels, report, paint, out);
    writeStatements(kernels, report, out);
    if (files.size() > 1) out << '\n';
  }
  writeLibraryLine(silent, report, out);
  const char* lead = "assuming: ";
  for (const std::string& assumption : assumptionsOf(report))
    out << lead << assumption << '\n', lead = "          ";
  writeWasteful(report, paint, out);
}

} // namespace kcheck::text
