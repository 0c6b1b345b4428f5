// The parts of the text report, shared by its writers only: colours, wording of findings, tables.
#pragma once

#include "report/counted.h"
#include "report/text_writer.h"

#include <string_view>

namespace kcheck::text {

enum class Style : std::uint8_t { Plain, Bold, Red, Magenta, Cyan, Green };

/// Wraps text in terminal colours, or leaves it as it is.
class Paint {
public:
  explicit Paint(bool colour) : colour(colour) {}
  std::string operator()(Style style, std::string_view text) const;

private:
  bool colour;
};

/// `a, b and c`.
std::string listed(const std::vector<std::string>& words);

/// `100 %`, `12.5 %`: one decimal where it is needed.
std::string percent(double value);

/// `(1,2,3)`.
std::string index(const Dim3& dim);

/// `file.cu:9:3`; shorter when line or column are unknown, `<program>` without a file.
std::string place(const Location& where);

/// One finding with everything below it.
void writeFinding(const Finding& finding, const TextOptions& options, std::ostream& out);

/// Whether `other` says the same of the same place, with another second access.
bool saysTheSame(const Finding& finding, const Finding& other);
/// Of what says the same as the finding before, so many partners are named; the rest are counted.
inline constexpr std::size_t kShownAlike = 2;
void writeFurtherPartners(std::size_t count, std::ostream& out);
/// Such a finding in one line, below the first one.
void writeAlsoWith(const Finding& finding, const TextOptions& options, std::ostream& out);

/// Whether `other` gives the same advice, for the same reason, of another access of the kernel; figures may
/// differ.
bool advisesTheSame(const Finding& finding, const Finding& other);
/// Such advice in one line: `other` is written in full, right above where `isNext`.
void writeAlsoAt(const Finding& finding, const Finding& other, bool isNext, const TextOptions& options,
                 std::ostream& out);

/// The tables, what stayed unknown, what proofs assume and which global accesses waste bandwidth.
void writeTables(const Report& report, const Paint& paint, std::ostream& out);

/// Whether the tables have anything to say beyond "all proved, all of the bandwidth used".
bool tablesMatter(const Report& report);

/// The efficiency of a kernel's global loads and stores: `100 % / 25 %`.
std::string globalTraffic(const KernelResult& kernel, const Report& report);

/// The global accesses that waste bandwidth and of which no finding speaks.
bool anyWasteful(const Report& report);
void writeWasteful(const Report& report, const Paint& paint, std::ostream& out);

/// What all proofs together rest on, each once, in the order of appearance; the same of several lines as one.
std::vector<std::string> assumptionsOf(const Report& report);

} // namespace kcheck::text
