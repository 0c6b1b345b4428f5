// A source line with its number, and a caret and tildes below the expression, as clang shows it. Used by the
// text writer.
#pragma once

#include <string>
#include <vector>

namespace kcheck {

/// A span of byte columns, counted from 1, as in Location; `endColumn` 0 means that only the start is known.
struct ColumnRange {
  unsigned column = 0;
  unsigned endColumn = 0;
};

/// A line made ready for a terminal: tabs expanded, broken UTF-8 replaced, cut to a window when very long.
struct Snippet {
  std::string text;
  std::string marks; ///< `^~~~` under `primary`, `~~~` under the others; empty when no column is known
};

Snippet makeSnippet(const std::string& line, ColumnRange primary,
                    const std::vector<ColumnRange>& others = {});

} // namespace kcheck
