// Small words of the text report.
#include "report/text_parts.h"

#include <cmath>
#include <fmt/format.h>

namespace kcheck::text {

std::string Paint::operator()(Style style, std::string_view text) const {
  if (!colour || style == Style::Plain || text.empty()) return std::string(text);
  const char* code = "";
  switch (style) {
  case Style::Plain: break;
  case Style::Bold: code = "1"; break;
  case Style::Red: code = "1;31"; break;
  case Style::Magenta: code = "1;35"; break;
  case Style::Cyan: code = "1;36"; break;
  case Style::Green: code = "1;32"; break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string percent(double value) {
  double tenths = std::round(value * 10);
  if (std::fmod(tenths, 10) == 0) return fmt::format("{:.0f} %", tenths / 10);
  return fmt::format("{:.1f} %", tenths / 10);
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

std::string index(const Dim3& dim) { return fmt::format("({},{},{})", dim.x, dim.y, dim.z); }

std::string place(const Location& where) {
  if (where.file.empty()) return "<program>";
  if (where.line == 0) return where.file;
  if (where.column == 0) return fmt::format("{}:{}", where.file, where.line);
  return fmt::format("{}:{}:{}", where.file, where.line, where.column);
}

} // namespace kcheck::text
