#include "report/launch_rules.h"

#include "report/counted.h"

#include <algorithm>
#include <fmt/format.h>

namespace kcheck {

namespace {

constexpr std::uint64_t kMostThreads = 1024;
constexpr std::uint64_t kMostShared = 227 * 1024; ///< of any device so far
constexpr std::uint32_t kLanes = 32;

std::string axisProblem(const char* what, const Extent& extent, Dim3 most) {
  const std::pair<const char*, std::pair<std::optional<std::uint32_t>, std::uint32_t>> axes[] = {
      {"x", {extent.x, most.x}}, {"y", {extent.y, most.y}}, {"z", {extent.z, most.z}}};
  for (const auto& [name, axis] : axes) {
    if (axis.first && *axis.first == 0)
      return fmt::format("the {} has no {} in {}", what, what[0] == 'g' ? "block" : "thread", name);
    if (axis.first && *axis.first > axis.second)
      return fmt::format("the {} has {} {} in {}, and {} is the most", what, *axis.first,
                         what[0] == 'g' ? "blocks" : "threads", name, axis.second);
  }
  return "";
}

/// The place that host code's syntax tree gives the launch statement on the same line.
Location placeOf(const Launch& launch, const Facts& facts) {
  const auto known = std::ranges::find_if(facts.launches, [&](const Launch& other) {
    return other.kernel == launch.kernel && other.where.file == launch.where.file &&
           other.where.line == launch.where.line;
  });
  return known == facts.launches.end() ? launch.where : known->where;
}

std::string shapeProblem(const Dim3& grid, const Dim3& block) {
  if (grid.volume() == 1 && block.volume() == 1) return "one thread does all the work";
  const std::uint64_t threads = block.volume(), idle = (kLanes - threads % kLanes) % kLanes;
  if (idle == 0) return "";
  if (threads == 1) return fmt::format("a block of one thread still takes a warp of {} lanes", kLanes);
  return threads < kLanes
             ? fmt::format("a block of {} threads still takes a warp of {} lanes, and {} idle{}", threads,
                           kLanes, idle, idle == 1 ? "s" : "")
             : fmt::format("a block of {} threads is no multiple of {}, so {} of its last warp idle{}",
                           threads, kLanes, counted(idle, "lane"), idle == 1 ? "s" : "");
}

} // namespace

std::string whyInvalid(const Launch& launch) {
  if (std::string problem = axisProblem("block", launch.block, {1024, 1024, 64}); !problem.empty())
    return problem;
  if (std::string problem = axisProblem("grid", launch.grid, {2147483647, 65535, 65535}); !problem.empty())
    return problem;
  const auto block = launch.block.whole();
  if (block && block->volume() > kMostThreads)
    return fmt::format("a block of {} threads, and {} is the most", block->volume(), kMostThreads);
  if (launch.sharedBytes && *launch.sharedBytes > kMostShared)
    return fmt::format("{} of shared memory for a block, and no device has more than {}",
                       counted(*launch.sharedBytes, "byte"), kMostShared);
  return "";
}

std::vector<Finding> launchFindings(const std::vector<Launch>& launches, const Facts& facts, Verdict verdict,
                                    const std::set<std::string>& brief) {
  std::vector<Finding> findings;
  for (const Launch& launch : launches) {
    if (launch.origin != LaunchOrigin::LaunchSite && launch.origin != LaunchOrigin::Annotation) continue;
    Finding finding;
    finding.verdict = verdict;
    finding.count = verdict == Verdict::Observed ? 1 : 0;
    finding.where = placeOf(launch, facts);
    if (!finding.where.known()) continue;
    if (const Kernel* kernel = facts.kernel(launch.kernel)) finding.kernel = kernel->name;
    const auto grid = launch.grid.whole(), block = launch.block.whole();
    if (std::string problem = whyInvalid(launch); !problem.empty()) {
      finding.rule = "invalid-launch";
      finding.message = "the kernel never runs: " + problem;
      finding.hint = "check cudaGetLastError() after the launch";
    } else if (grid && block) {
      if (grid->volume() == 1 && block->volume() == 1 && brief.contains(launch.kernel)) continue;
      finding.rule = "launch-shape";
      // Few threads in all are few whatever their shape; one thread is mostly a loop that should be many.
      const std::uint64_t threads = grid->volume() * block->volume();
      finding.severity = threads > 1 && threads < 2 * kLanes ? Severity::Note : Severity::Warning;
      finding.message = shapeProblem(*grid, *block);
      if (finding.message.empty()) continue;
      const bool exchanged =
          block->volume() < kLanes && grid->volume() > block->volume() && grid->volume() % kLanes == 0;
      finding.hint = exchanged ? fmt::format("are grid and block exchanged? <<<{}, {}>>>",
                                             toString(launch.block), toString(launch.grid))
                               : "blocks of a multiple of 32 threads, usually 128 to 512";
    } else {
      continue;
    }
    const bool known = std::ranges::any_of(findings, [&](const Finding& other) {
      return other.rule == finding.rule && other.where == finding.where && other.message == finding.message;
    });
    if (!known) findings.push_back(std::move(finding));
  }
  return findings;
}

} // namespace kcheck
