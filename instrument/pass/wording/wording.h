// The sentences of the run's findings: message and hint, from what a finding already holds.
#pragma once

#include "instrument/wire.h"
#include "report/finding.h"

#include <array>
#include <string>

namespace kcheck::instrument {

/// The rule's id in report/rules.h.
const char* ruleId(wire::Rule rule);
Severity severityOf(wire::Rule rule);

/// Fills in message and hint. Accesses, places and memory are there. `names`: the functions of libraries
/// that the record's accesses are, or the kernels that they are of, or empty.
void word(Finding& finding, const wire::Finding& record, const std::string& text,
          const std::array<std::string, 2>& names);

} // namespace kcheck::instrument
