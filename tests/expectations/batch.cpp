#include "batch.h"

#include "expectation.h"
#include "source_lines.h"

#include <algorithm>
#include <fmt/format.h>
#include <regex>

namespace kcheck::expectations {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t filesTogether = 24;

/// `<string>`, or `"graph.h"` with the folder in which the file means it.
std::string headerFrom(const fs::path& folder, const std::string& header) {
  if (header.front() == '<') return header;
  const fs::path beside = (folder / header.substr(1, header.size() - 2)).lexically_normal();
  return fs::exists(beside) ? fmt::format("\"{}\"", beside.string()) : header;
}

} // namespace

std::vector<Batch> batchesOf(const std::vector<fs::path>& files) {
  std::vector<Batch> batches;
  for (const fs::path& file : files) {
    const std::string architecture = architectureOf(contentOf(file));
    auto open = std::ranges::find_if(batches, [&](const Batch& batch) {
      return batch.architecture == architecture && batch.files.size() < filesTogether;
    });
    if (open == batches.end()) open = batches.insert(open, {architecture, {}});
    open->files.push_back(file);
  }
  return batches;
}

std::string sourceOf(const Batch& batch) {
  static const std::regex includes(R"(\s*#\s*include\s*(<[^>]+>|"[^"]+").*)");
  static const std::regex defines(R"(\s*#\s*define\s+(\w+).*)");
  std::vector<std::string> headers;
  std::string bodies;
  for (std::size_t i = 0; i < batch.files.size(); ++i) {
    const fs::path& file = batch.files[i];
    bodies += fmt::format("namespace file_{} {{\n#include \"{}\"\n}}\n", i, file.string());
    for (const SourceLine& line : splitSource(contentOf(file))) {
      std::smatch match;
      if (std::regex_match(line.code, match, defines)) bodies += fmt::format("#undef {}\n", match[1].str());
      if (!std::regex_match(line.text, match, includes)) continue;
      std::string header = headerFrom(file.parent_path(), match[1]);
      if (std::ranges::find(headers, header) == headers.end()) headers.push_back(std::move(header));
    }
  }
  std::string first;
  for (const std::string& header : headers) first += fmt::format("#include {}\n", header);
  return first + bodies;
}

} // namespace kcheck::expectations
