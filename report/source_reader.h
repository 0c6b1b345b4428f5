// Where the writers get source lines from: the disk, or memory in tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kcheck {

class SourceReader {
public:
  virtual ~SourceReader() = default;
  /// The text of a line (counted from 1) without its line end; nothing when there is no such file or line.
  virtual std::optional<std::string> line(const std::string& file, unsigned number) = 0;
};

/// Splits a file's text into lines; `\r\n` counts as one line end.
std::vector<std::string> splitLines(const std::string& text);

/// Reads files from the disk, each once.
class DiskSourceReader : public SourceReader {
public:
  std::optional<std::string> line(const std::string& file, unsigned number) override;

private:
  std::map<std::string, std::vector<std::string>> files;
};

/// Texts kept in memory: for tests, and for sources that the program makes up (a launch line's main).
class MemorySourceReader : public SourceReader {
public:
  void add(const std::string& file, const std::string& text) { files[file] = splitLines(text); }
  std::optional<std::string> line(const std::string& file, unsigned number) override;

private:
  std::map<std::string, std::vector<std::string>> files;
};

} // namespace kcheck
