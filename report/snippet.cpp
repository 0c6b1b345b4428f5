// Columns in a Location count bytes; columns on a terminal count cells. A line is split into glyphs, each of
// which knows both.
#include "report/snippet.h"

#include <algorithm>
#include <cstdint>

namespace kcheck {

namespace {

constexpr unsigned kTabStop = 8;
constexpr unsigned kWidest = 160;     // longer lines are cut to a window around the caret
constexpr unsigned kBeforeCaret = 60; // cells of the window before the caret
constexpr const char* kReplacement = "\xEF\xBF\xBD";

struct Glyph {
  std::string text;
  unsigned byte = 0;  // offset in the line
  unsigned bytes = 1; // there
  unsigned cell = 0;  // first cell on the terminal
  unsigned cells = 1; // 0 for combining marks, 2 for wide characters
};

struct CodePoint {
  std::uint32_t value = 0;
  unsigned bytes = 1;
  bool valid = false;
};

CodePoint decode(const std::string& line, std::size_t at) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(line[i]); };
  unsigned char first = byte(at);
  if (first < 0x80) return {first, 1, true};
  unsigned length = first >= 0xF0 && first < 0xF8 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first >= 0xF8 || at + length > line.size()) return {};
  std::uint32_t value = first & (0xFFu >> (length + 1));
  for (unsigned i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(at + i) & 0x3F);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool surrogate = value >= 0xD800 && value < 0xE000;
  if (value < smallest[length] || value > 0x10FFFF || surrogate) return {};
  return {value, length, true};
}

struct Interval {
  std::uint32_t first, last;
};

bool within(std::uint32_t value, std::initializer_list<Interval> intervals) {
  return std::ranges::any_of(intervals, [&](Interval i) { return value >= i.first && value <= i.last; });
}

unsigned cellsOf(std::uint32_t value) {
  if (within(value, {{0x300, 0x36F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}))
    return 0;
  if (within(value, {{0x1100, 0x115F},
                     {0x2E80, 0x303E},
                     {0x3041, 0xA4CF},
                     {0xAC00, 0xD7A3},
                     {0xF900, 0xFAFF},
                     {0xFE30, 0xFE6F},
                     {0xFF00, 0xFF60},
                     {0xFFE0, 0xFFE6},
                     {0x1F300, 0x1F64F},
                     {0x1F900, 0x1F9FF},
                     {0x20000, 0x3FFFD}}))
    return 2;
  return 1;
}

std::vector<Glyph> split(const std::string& line) {
  std::vector<Glyph> glyphs;
  unsigned cell = 0;
  for (std::size_t at = 0; at < line.size();) {
    CodePoint point = decode(line, at);
    Glyph glyph{line.substr(at, point.bytes), unsigned(at), point.bytes, cell, 1};
    if (line[at] == '\t') {
      glyph.cells = kTabStop - cell % kTabStop;
      glyph.text.assign(glyph.cells, ' ');
    } else if (!point.valid || point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0)) {
      glyph.text = kReplacement;
    } else {
      glyph.cells = cellsOf(point.value);
    }
    cell += glyph.cells;
    at += point.bytes;
    glyphs.push_back(std::move(glyph));
  }
  return glyphs;
}

struct Cells {
  unsigned first = 0, end = 0;
};

/// The cells of a range of byte columns; at least one, and at most up to the end of the line.
Cells cellsOf(const std::vector<Glyph>& glyphs, ColumnRange range) {
  auto cellAt = [&](unsigned column) {
    for (const Glyph& glyph : glyphs)
      if (glyph.byte + glyph.bytes > column - 1) return glyph.cell;
    return glyphs.empty() ? 0 : glyphs.back().cell + glyphs.back().cells;
  };
  Cells cells{cellAt(range.column), 0};
  cells.end = range.endColumn > range.column ? cellAt(range.endColumn) : 0;
  cells.end = std::max(cells.end, cells.first + 1);
  return cells;
}

void mark(std::string& marks, Cells cells, char first, char rest) {
  if (marks.size() < cells.end) marks.resize(cells.end, ' ');
  for (unsigned i = cells.first; i < cells.end; ++i) marks[i] = i == cells.first ? first : rest;
}

/// Cuts a long line to the cells [from, end) and says so by dots.
Snippet cut(const std::vector<Glyph>& glyphs, const std::string& marks, unsigned from, unsigned end) {
  Snippet result;
  if (from > 0) result.text = "...";
  for (const Glyph& glyph : glyphs)
    if (glyph.cell >= from && glyph.cell < end) result.text += glyph.text;
  if (!glyphs.empty() && end < glyphs.back().cell + glyphs.back().cells) result.text += "...";
  if (from < marks.size())
    result.marks = std::string(from > 0 ? 3 : 0, ' ') + marks.substr(from, std::min(end - from, kWidest));
  return result;
}

} // namespace

Snippet makeSnippet(const std::string& line, ColumnRange primary, const std::vector<ColumnRange>& others) {
  std::vector<Glyph> glyphs = split(line);
  std::string marks;
  for (ColumnRange range : others)
    if (range.column > 0) mark(marks, cellsOf(glyphs, range), '~', '~');
  unsigned caret = 0;
  if (primary.column > 0) {
    Cells cells = cellsOf(glyphs, primary);
    caret = cells.first;
    mark(marks, cells, '^', '~');
  }
  unsigned width = glyphs.empty() ? 0 : glyphs.back().cell + glyphs.back().cells;
  unsigned from = width > kWidest && caret > kBeforeCaret ? caret - kBeforeCaret : 0;
  // A window may not begin inside a wide character or a tab.
  for (const Glyph& glyph : glyphs)
    if (glyph.cell <= from && from < glyph.cell + glyph.cells) from = glyph.cell;
  Snippet result = cut(glyphs, marks, from, width > kWidest ? from + kWidest : std::max(width, 1u));
  if (marks.size() > width && width <= kWidest) result.marks = marks; // a caret just past the end
  while (!result.text.empty() && result.text.back() == ' ') result.text.pop_back();
  while (!result.marks.empty() && result.marks.back() == ' ') result.marks.pop_back();
  return result;
}

} // namespace kcheck
