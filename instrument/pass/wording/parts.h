// What the sentences have in common, and the sentences by what the finding is about.
#pragma once

#include "instrument/wire.h"
#include "report/counted.h"
#include "report/finding.h"

#include <array>
#include <string>

namespace kcheck::instrument {

std::string quoted(const std::string& text);
/// What the finding is about, as the program writes it.
std::string subject(const Finding& finding);
/// "read", "write" or "atomic"
const char* verb(const wire::Finding& record);
/// "thread (1,0,0) of block (0,0,0)"
std::string threadOf(const wire::Finding& record);
/// Of the array.
std::string nameOnly(const Finding& finding);

// races.cpp
void wordRace(Finding& finding, const wire::Finding& record);
void wordScope(Finding& finding, const wire::Finding& record);

// host.cpp
void wordFree(Finding& finding, const wire::Finding& record, const std::string& library, bool isAtOnce);
void wordAllocation(Finding& finding, const wire::Finding& record);
void wordPrints(Finding& finding);
void wordHost(Finding& finding, const wire::Finding& record, const std::array<std::string, 2>& names);

// waiting.cpp
void wordBarrier(Finding& finding, const wire::Finding& record, const std::string& text);
void wordMask(Finding& finding, const wire::Finding& record, const std::string& text);
void wordHang(Finding& finding, const wire::Finding& record, const std::string& text);

// memory.cpp
void wordBounds(Finding& finding, const wire::Finding& record);
void wordUninitialized(Finding& finding, const wire::Finding& record);
void wordUseBesideFree(Finding& finding, const wire::Finding& record);
void wordUnwritten(Finding& finding, const wire::Finding& record);
void wordSpace(Finding& finding, const wire::Finding& record, const std::string& text);

} // namespace kcheck::instrument
