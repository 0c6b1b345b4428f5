// What the GPU and compute-sanitizer say about a program, as rows of the table of docs/versus.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kcheck::expectations {

/// The tools of compute-sanitizer, in the order of the table's columns.
inline const std::vector<std::string> kSanitizerTools{"memcheck", "racecheck", "initcheck", "synccheck"};

/// One program on one machine.
struct GpuRow {
  std::string file;   ///< from the root of the repository
  std::string rules;  ///< that kcheck must report, from the file's expectations; "-" for none
  std::string result; ///< of the bare program: "right", "wrong" or "hangs"
  std::map<std::string, std::string> tools; ///< "clean", "5 errors", "hangs", "failed"
};

/// How many errors or hazards a tool's output says it found; nothing when it has no summary.
std::optional<unsigned> reportedBy(const std::string& output);

std::string toLine(const GpuRow& row);
std::optional<GpuRow> fromLine(const std::string& line);

/// Markdown: first how many programs of each rule each tool reports, and how many right ones; then all
/// programs.
std::string tableOf(std::vector<GpuRow> rows);

} // namespace kcheck::expectations
