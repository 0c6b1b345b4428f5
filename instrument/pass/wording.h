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

/// Where the type of a value is not known the likeliest reading is taken, one for all values that a finding
/// shows of one place.
bool looksReal(std::uint64_t content, unsigned bytes);

/// Content of memory as a value.
std::string valueText(std::uint64_t content, unsigned bytes, ValueType type);

/// Fills in message and hint. Accesses, places and memory are there. `libraries`: the functions of libraries
/// that the record's accesses are, or empty.
void word(Finding& finding, const wire::Finding& record, const std::string& text,
          const std::array<std::string, 2>& libraries);

} // namespace kcheck::instrument
