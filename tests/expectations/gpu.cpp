// Rows and tables of what GPU and compute-sanitizer say. See gpu.h.
#include "gpu.h"

#include <algorithm>
#include <fmt/format.h>
#include <regex>
#include <sstream>

namespace kcheck::expectations {

namespace {

constexpr const char* kNoRule = "-";

bool reports(const GpuRow& row, const std::string& tool) {
  auto found = row.tools.find(tool);
  return found != row.tools.end() && found->second.find(" error") != std::string::npos;
}

std::vector<std::string> rulesOf(const GpuRow& row) {
  std::vector<std::string> rules;
  std::istringstream in(row.rules);
  for (std::string rule; in >> rule;) rules.push_back(rule);
  return rules;
}

std::string headOf(const std::string& first, const std::string& second) {
  std::string head = fmt::format("| {} | {} |", first, second), line = "|---|---|";
  for (const std::string& tool : kSanitizerTools) head += fmt::format(" {} |", tool), line += "---|";
  return head + "\n" + line + "\n";
}

std::string summaryLine(const std::string& title, const std::vector<const GpuRow*>& rows) {
  std::string line = fmt::format("| {} | {} |", title, rows.size());
  for (const std::string& tool : kSanitizerTools)
    line += fmt::format(" {} |",
                        std::ranges::count_if(rows, [&](const GpuRow* row) { return reports(*row, tool); }));
  return line + "\n";
}

} // namespace

std::optional<unsigned> reportedBy(const std::string& output) {
  static const std::regex summary(R"((?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard))");
  std::optional<unsigned> sum;
  for (auto it = std::sregex_iterator(output.begin(), output.end(), summary); it != std::sregex_iterator();
       ++it)
    sum = sum.value_or(0) + unsigned(std::stoul((*it)[1]));
  return sum;
}

std::string toLine(const GpuRow& row) {
  std::string line = row.file + '\t' + row.rules + '\t' + row.result;
  for (const std::string& tool : kSanitizerTools) {
    auto found = row.tools.find(tool);
    line += '\t' + (found == row.tools.end() ? "not run" : found->second);
  }
  return line + '\n';
}

std::optional<GpuRow> fromLine(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; std::getline(in, word, '\t');) words.push_back(word);
  if (words.size() != 3 + kSanitizerTools.size()) return std::nullopt;
  GpuRow row{words[0], words[1], words[2], {}};
  for (std::size_t i = 0; i < kSanitizerTools.size(); ++i) row.tools[kSanitizerTools[i]] = words[3 + i];
  return row;
}

std::string tableOf(std::vector<GpuRow> rows) {
  std::ranges::sort(rows, {}, &GpuRow::file);
  std::map<std::string, std::vector<const GpuRow*>> byRule;
  for (const GpuRow& row : rows)
    for (const std::string& rule : rulesOf(row)) byRule[rule].push_back(&row);

  std::string text = headOf("programs with", "of them");
  for (const auto& [rule, those] : byRule)
    text += summaryLine(rule == kNoRule ? "no mistake" : fmt::format("`{}`", rule), those);
  text += '\n' + headOf("program, with what kcheck reports", "on the GPU");
  for (const GpuRow& row : rows) {
    text += fmt::format("| {}: {} | {} |", row.file, row.rules, row.result);
    for (const std::string& tool : kSanitizerTools) {
      auto found = row.tools.find(tool);
      text += fmt::format(" {} |", found == row.tools.end() ? "not run" : found->second);
    }
    text += '\n';
  }
  return text;
}

} // namespace kcheck::expectations
