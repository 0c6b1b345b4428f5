// The report as text for people, in the look of clang's own diagnostics, then one table per file.
#pragma once

#include "report/report.h"
#include "report/source_reader.h"

#include <iosfwd>

namespace kcheck {

struct TextOptions {
  SourceReader* source = nullptr; ///< for the lines under each finding; null: none are shown
  bool colour = false;
};

/// One line when there is nothing to say. Deterministic: the same report gives the same bytes.
void writeText(const Report& report, const TextOptions& options, std::ostream& out);

} // namespace kcheck
