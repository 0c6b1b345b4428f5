// Source lines for the writers.
#include "report/source_reader.h"

#include <fstream>
#include <sstream>

namespace kcheck {

namespace {

std::optional<std::string> lineOf(const std::vector<std::string>& lines, unsigned number) {
  if (number == 0 || number > lines.size()) return std::nullopt;
  return lines[number - 1];
}

} // namespace

std::vector<std::string> splitLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

std::optional<std::string> DiskSourceReader::line(const std::string& file, unsigned number) {
  auto [entry, isNew] = files.try_emplace(file);
  if (isNew) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    if (in) text << in.rdbuf();
    entry->second = splitLines(text.str());
  }
  return lineOf(entry->second, number);
}

std::optional<std::string> MemorySourceReader::line(const std::string& file, unsigned number) {
  auto found = files.find(file);
  return found == files.end() ? std::nullopt : lineOf(found->second, number);
}

} // namespace kcheck
