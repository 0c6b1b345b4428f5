// The table of kernels of each file, and below it the reasons of every unknown, the reach and the assumptions
// of the proofs, and the global accesses that move more bytes than they use.
#include "report/text_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <tuple>

namespace kcheck::text {

namespace {

constexpr double kFull = 99.95; // what prints as 100 %
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
  if (report.ranStatic) return {"unknown", Style::Magenta};
  return {launchedInRun(kernel, report) ? "none seen" : "not run"};
}

/// Bytes used and moved by accesses of one kind. Each site counts as at most full, so that a broadcast does
/// not make up for a scattered access.
struct Traffic {
  std::uint64_t used = 0, moved = 0;
  void add(const Metric& metric) {
    used += std::min(metric.bytesRequested, 32 * metric.sectors);
    moved += 32 * metric.sectors;
  }
  std::string text() const { return moved == 0 ? "-" : percent(100.0 * double(used) / double(moved)); }
};

/// What to show of global memory: the run's figures, and the static pass's where the run has none of the
/// site.
std::vector<const Metric*> shownMetrics(const Report& report) {
  std::vector<const Metric*> shown;
  auto measured = [&](const Metric& metric) {
    return std::ranges::any_of(report.metrics, [&](const Metric& other) {
      return other.source == Source::Run && other.site == metric.site && other.where == metric.where &&
             other.kernel == metric.kernel && other.access == metric.access;
    });
  };
  for (const Metric& metric : report.metrics)
    if (metric.space == MemorySpace::Global && metric.sectors > 0)
      if (metric.source == Source::Run || !measured(metric)) shown.push_back(&metric);
  return shown;
}

std::string trafficCell(const KernelResult& kernel, const std::vector<const Metric*>& metrics) {
  Traffic loads, stores;
  bool anyRun = std::ranges::any_of(metrics, [&](const Metric* metric) {
    return metric->kernel == kernel.name && metric->source == Source::Run;
  });
  for (const Metric* metric : metrics) {
    if (metric->kernel != kernel.name || (anyRun && metric->source != Source::Run)) continue;
    if (metric->access == AccessKind::Read) loads.add(*metric);
    if (metric->access == AccessKind::Write) stores.add(*metric);
  }
  return loads.text() + " / " + stores.text();
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
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

void writeStatements(const std::vector<const KernelResult*>& kernels, const Report& report,
                     std::ostream& out) {
  auto unknown = statementsOf(kernels, [&](const KernelResult& kernel, const PropertyResult& property) {
    if (property.answer != Answer::Unknown || !report.ranStatic) return std::string();
    std::string seen = launchedInRun(kernel, report) ? "; the run saw nothing wrong" : "";
    return property.reason + seen;
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

struct WastefulLine {
  Location where;
  AccessKind access;
  std::string expr;
  Metric sum;
  double efficiency() const { return sum.efficiency(); }
};

/// Global accesses below 100 %, each place once, over all kernels that share it.
std::vector<WastefulLine> wastefulLines(const Report& report) {
  std::vector<WastefulLine> lines;
  for (const Metric* metric : shownMetrics(report)) {
    auto same = std::ranges::find_if(lines, [&](const WastefulLine& line) {
      return line.where == metric->where && line.access == metric->access &&
             line.sum.source == metric->source;
    });
    if (same == lines.end()) {
      bool known = metric->site < report.facts.sites.size();
      lines.push_back(
          {metric->where, metric->access, known ? report.facts.sites[metric->site].expr : "", *metric});
      continue;
    }
    same->sum.requests += metric->requests;
    same->sum.sectors += metric->sectors;
    same->sum.idealSectors += metric->idealSectors;
    same->sum.bytesRequested += metric->bytesRequested;
  }
  std::erase_if(lines, [](const WastefulLine& line) { return line.efficiency() >= kFull; });
  std::ranges::sort(lines, {}, [](const WastefulLine& line) {
    return std::tie(line.where, line.access, line.sum.source); // unique, see above
  });
  return lines;
}

std::string perRequest(std::uint64_t sectors, std::uint64_t requests) {
  std::string text = fmt::format("{:.1f}", requests ? double(sectors) / double(requests) : 0.0);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

void writeWasteful(const WastefulLine& line, bool ran, const Paint& paint, std::ostream& out) {
  const Metric& sum = line.sum;
  const char* what = line.access == AccessKind::Read    ? "loads of"
                     : line.access == AccessKind::Write ? "stores to"
                                                        : "atomics on";
  std::string moved = perRequest(sum.sectors, sum.requests),
              ideal = perRequest(sum.idealSectors, sum.requests);
  std::string compared =
      sum.sectors <= sum.idealSectors ? ", the fewest possible" : ", where " + ideal + " would do";
  std::string expr = line.expr.empty() ? "memory" : "`" + line.expr + "`";
  std::string from = ran && sum.source == Source::Static ? " (from the static pass)" : "";
  out << paint(Style::Bold, place(line.where) + ":")
      << fmt::format(" {} {}: {}, {} sector{} per request{}{}\n", what, expr, percent(line.efficiency()),
                     moved, moved == "1" ? "" : "s", compared, from);
}

void writeTable(const std::vector<const KernelResult*>& kernels, const Report& report, const Paint& paint,
                std::ostream& out) {
  std::vector<const Metric*> metrics = shownMetrics(report);
  Row head{{"kernel"}, {"launch"}};
  for (const Column& column : kColumns) head.push_back({column.title});
  head.push_back({"global loads / stores"});
  std::vector<Row> rows{head};
  for (const KernelResult* kernel : kernels) {
    Row row{{shortened(kernel->name)}, {launchCell(*kernel, report)}};
    for (const Column& column : kColumns) row.push_back(answerCell(*kernel, column.property, report));
    row.push_back({trafficCell(*kernel, metrics)});
    rows.push_back(std::move(row));
  }
  writeRows(rows, paint, out);
}

} // namespace

std::vector<std::string> assumptionsOf(const Report& report) {
  std::vector<std::string> all;
  for (const KernelResult& kernel : report.kernels)
    for (const PropertyResult& property : kernel.properties) {
      if (property.answer != Answer::Proved) continue;
      for (const std::string& assumption : property.assumptions)
        if (std::ranges::find(all, assumption) == all.end()) all.push_back(assumption);
    }
  return all;
}

bool tablesMatter(const Report& report) {
  bool open = std::ranges::any_of(report.kernels, [&](const KernelResult& kernel) {
    return std::ranges::any_of(kernel.properties, [&](const PropertyResult& property) {
      return property.answer == Answer::Refuted || (property.answer == Answer::Unknown && report.ranStatic);
    });
  });
  return open || !wastefulLines(report).empty();
}

void writeTables(const Report& report, const Paint& paint, std::ostream& out) {
  std::vector<std::string> files;
  for (const KernelResult& kernel : report.kernels)
    if (std::ranges::find(files, kernel.where.file) == files.end()) files.push_back(kernel.where.file);
  for (const std::string& file : files) {
    std::vector<const KernelResult*> kernels;
    for (const KernelResult& kernel : report.kernels)
      if (kernel.where.file == file) kernels.push_back(&kernel);
    if (files.size() > 1) out << paint(Style::Bold, (file.empty() ? "<program>" : file) + ":") << '\n';
    writeTable(kernels, report, paint, out);
    writeStatements(kernels, report, out);
    if (files.size() > 1) out << '\n';
  }
  const char* lead = "assuming: ";
  for (const std::string& assumption : assumptionsOf(report))
    out << lead << assumption << '\n', lead = "          ";
  for (const WastefulLine& line : wastefulLines(report)) writeWasteful(line, report.run.ran, paint, out);
}

} // namespace kcheck::text
