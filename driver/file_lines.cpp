// Reads the option comments of a source file. See file_lines.h.
#include "driver/file_lines.h"

#include <optional>
#include <utility>

namespace kcheck::driver {
namespace {

std::string trimmed(const std::string& text) {
  std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// What follows `// word:` when the line is such a comment.
std::optional<std::string> commentAfter(const std::string& line, const std::string& word) {
  std::string text = trimmed(line);
  if (!text.starts_with("//")) return std::nullopt;
  text = trimmed(text.substr(2));
  if (!text.starts_with(word + ":")) return std::nullopt;
  return trimmed(text.substr(word.size() + 1));
}

/// GPUVerify writes --blockDim=64, --blockDim=[8,4] and the older --local_size=64, --num_groups=[2,2].
std::vector<std::string> fromGpuVerify(const std::string& line) {
  std::string text = trimmed(line);
  if (!text.starts_with("//")) return {};
  text = trimmed(text.substr(2));
  if (!text.starts_with("--")) return {};
  static const std::pair<const char*, const char*> names[] = {{"--blockDim=", "--block="},
                                                              {"--gridDim=", "--grid="},
                                                              {"--local_size=", "--block="},
                                                              {"--num_groups=", "--grid="}};
  std::vector<std::string> arguments;
  for (const std::string& word : splitWords(text))
    for (auto [theirs, ours] : names)
      if (word.starts_with(theirs)) {
        std::string value = word.substr(std::string(theirs).size());
        std::erase_if(value, [](char c) { return c == '[' || c == ']'; });
        arguments.push_back(ours + value);
      }
  return arguments;
}

} // namespace

std::vector<std::string> splitWords(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool inWord = false;
  char quote = 0;
  for (char c : text) {
    if (quote) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      inWord = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (inWord) words.push_back(std::exchange(word, {}));
      inWord = false;
    } else {
      word += c;
      inWord = true;
    }
  }
  if (inWord) words.push_back(word);
  return words;
}

FileLines readFileLines(std::istream& source) {
  FileLines lines;
  std::string line;
  while (std::getline(source, line)) {
    if (line.find("//") == std::string::npos) continue;
    if (auto options = commentAfter(line, "kcheck")) {
      for (std::string& word : splitWords(*options)) lines.arguments.push_back(std::move(word));
    } else if (auto launch = commentAfter(line, "launch")) {
      lines.launches.push_back(*launch);
    } else {
      for (std::string& argument : fromGpuVerify(line)) lines.arguments.push_back(std::move(argument));
    }
  }
  return lines;
}

} // namespace kcheck::driver
