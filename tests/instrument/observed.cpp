#include "observed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace kcheck::instrument {
namespace {

std::string textOf(const Access& access) {
  auto dim = [](const std::optional<Dim3>& d) { return d ? fmt::format("{},{},{}", d->x, d->y, d->z) : "-"; };
  return fmt::format("{} line {} block {} thread {} value {}", int(access.kind), access.where.line,
                     dim(access.block), dim(access.thread), access.value);
}

/// Kernels of very many accesses are sampled, each way in its own places: of such counts two digits are
/// compared.
std::string counted(bool exact, std::uint64_t value) {
  constexpr std::uint64_t kSampled = 500'000;
  return exact || value < kSampled ? std::to_string(value) : fmt::format("about {:.1e}", double(value));
}

} // namespace

std::vector<std::string> linesOf(const Observation& seen, bool exact) {
  std::vector<std::string> lines;
  for (const Finding& finding : seen.findings) {
    std::string line = fmt::format(
        "{} {} line {} count {} same {} memory {}", finding.rule, int(finding.severity), finding.where.line,
        finding.count, finding.sameValue, finding.memory ? finding.memory->offset.value_or(-1) : -2);
    for (const Access& access : finding.accesses) line += "; " + textOf(access);
    lines.push_back(line + "; " + finding.message);
  }
  for (const Metric& metric : seen.metrics)
    lines.push_back(fmt::format(
        "metric {} line {}:{} kind {} space {}: {} requests {} sectors {} ideal {} bytes {} ways",
        metric.kernel, metric.where.line, metric.where.column, int(metric.access), int(metric.space),
        counted(exact, metric.requests), counted(exact, metric.sectors), counted(exact, metric.idealSectors),
        counted(exact, metric.bytesRequested), metric.bankWays));
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// Both sorted.
std::string onlyIn(const std::vector<std::string>& some, const std::vector<std::string>& others) {
  std::vector<std::string> left;
  std::set_difference(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(left));
  return fmt::format("{}", fmt::join(left, "\n"));
}

bool hasMain(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str().find("int main(") != std::string::npos;
}

} // namespace kcheck::instrument
