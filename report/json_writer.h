// The report as JSON, the stable contract that scripts rely on: docs/report.schema.json.
#pragma once

#include "report/report.h"

#include <iosfwd>

namespace kcheck {

/// Keys always come in the same order, and every key of the schema is there; what is not known is null.
void writeJson(const Report& report, std::ostream& out);

} // namespace kcheck
