// A small scanner: enough of C++ to tell comments from strings.
#include "source_lines.h"

#include <fstream>
#include <sstream>

namespace kcheck::expectations {

namespace {

/// Scans one line; `inBlock` is carried from line to line.
SourceLine scan(const std::string& text, bool& inBlock) {
  SourceLine line{text, "", "", false};
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (inBlock) {
      if (c == '*' && next == '/') inBlock = false, ++i;
    } else if (quote) {
      if (c == '\\')
        ++i;
      else if (c == quote)
        quote = 0, line.code += c;
    } else if (c == '/' && next == '/') {
      line.comment = text.substr(i + 2);
      break;
    } else if (c == '/' && next == '*') {
      inBlock = true, ++i;
    } else {
      bool digitSeparator = c == '\'' && i > 0 && std::isxdigit(static_cast<unsigned char>(text[i - 1]));
      if (c == '"' || (c == '\'' && !digitSeparator)) quote = c;
      line.code += c;
    }
  }
  line.hasCode = line.code.find_first_not_of(" \t\r") != std::string::npos;
  return line;
}

} // namespace

std::string contentOf(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<SourceLine> splitSource(const std::string& text) {
  std::vector<SourceLine> lines;
  std::istringstream in(text);
  bool inBlock = false;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(scan(line, inBlock));
  }
  return lines;
}

} // namespace kcheck::expectations
