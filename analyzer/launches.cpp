#include "analyzer/launches.h"

#include "analyzer/launch_groups.h"
#include "report/formulas.h"
#include "report/launch_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace kcheck::analyzer {
namespace {

constexpr const char* kAxes = "xyz";

std::string launchText(const Launch& launch) {
  std::string where = launch.where.known() ? fmt::format(" (line {})", launch.where.line) : std::string();
  return fmt::format("<<<{}, {}>>>{}", toString(launch.grid), toString(launch.block), where);
}

void fix(std::array<std::optional<std::uint32_t>, 3>& axes, const Extent& extent) {
  axes = {extent.x, extent.y, extent.z};
}

/// Axes that the kernel never looks at are one wide: a wider launch would only repeat the work. Where some
/// launch does repeat it, twice stands for as often as it may be.
void narrowUnused(LaunchCase& launch, UsedAxes used, bool isRepeated = false) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (!(used.block >> axis & 1) && !launch.block[axis]) launch.block[axis] = 1;
    if (!(used.grid >> axis & 1) && !launch.grid[axis]) launch.grid[axis] = isRepeated ? 2 : 1;
  }
}

/// What narrowUnused takes for granted of a launch of the program or of the options.
std::vector<std::string> narrowedIn(const LaunchCase& launch, UsedAxes used, const Location& where) {
  constexpr const char* kOneWide[] = {"wide", "high", "deep"};
  std::string line = where.known() ? fmt::format(" of the launch in line {}", where.line) : std::string();
  std::vector<std::string> result;
  auto addAxes = [&](unsigned usedAxes, const auto& axes, const char* whole, const char* part) {
    std::string names;
    for (unsigned axis = 0; axis < 3; ++axis)
      if (!(usedAxes >> axis & 1) && !axes[axis])
        names += (names.empty() ? "" : " and ") + std::string(kOneWide[axis]);
    if (!names.empty()) result.push_back(fmt::format("the {}{} is one {} {}", whole, line, part, names));
  };
  addAxes(used.block, launch.block, "block", "thread");
  addAxes(used.grid, launch.grid, "grid", "block");
  return result;
}

std::string namesOf(unsigned axes) {
  std::string names;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (axes >> axis & 1) names += (names.empty() ? "" : " and ") + std::string(1, kAxes[axis]);
  return names;
}

/// `any one-dimensional <what>`, `any <what> of up to two dimensions`.
std::string shapeText(unsigned axes, const std::string& article, const std::string& what) {
  if (axes == 7) return article + what;
  if (axes == 1) return article + "one-dimensional " + what;
  return article + what + (axes == 3 ? " of up to two dimensions" : " along " + namesOf(axes));
}

std::string gridText(unsigned axes) {
  if (axes == 0) return "one";
  return shapeText(axes, "any ", "grid") + (axes == 3 ? ", of" : " of");
}

/// The axes that are free; the others are one wide.
std::string freeText(UsedAxes used) {
  if (used.grid == 0) return shapeText(used.block, "any launch of one ", "block");
  if (used.block == used.grid) return shapeText(used.grid, "any ", "launch");
  return gridText(used.grid) + " " + shapeText(used.block, "", "blocks");
}

PlannedCase fromLaunch(const Launch& launch, UsedAxes used, const Options& options) {
  PlannedCase result;
  result.launch.launch = &launch;
  result.launch.mayAlias = options.mayAlias;
  result.launch.sharedBytes = launch.sharedBytes;
  fix(result.launch.block, launch.block);
  fix(result.launch.grid, launch.grid);
  if (!launch.isJoined) result.narrowed = narrowedIn(result.launch, used, launch.where);
  narrowUnused(result.launch, used, launch.isJoined);
  result.holdsFor = launchText(launch);
  result.shown = launch;
  return result;
}

/// --block and --grid; an axis given as `*` stays free, one not mentioned is 1.
PlannedCase fromOptions(const Kernel& kernel, UsedAxes used, const Options& options) {
  PlannedCase result;
  result.launch.mayAlias = options.mayAlias;
  if (options.block) fix(result.launch.block, *options.block);
  if (options.grid) fix(result.launch.grid, *options.grid);
  result.narrowed = narrowedIn(result.launch, used, {});
  narrowUnused(result.launch, used);
  result.shown.kernel = kernel.symbol;
  result.shown.origin = LaunchOrigin::Option;
  auto shape = [](const std::array<std::optional<std::uint32_t>, 3>& axes) {
    return Extent(axes[0], axes[1], axes[2]);
  };
  result.shown.block = shape(result.launch.block);
  result.shown.grid = shape(result.launch.grid);
  result.holdsFor = launchText(result.shown);
  return result;
}

void takeWanted(Dim3& shape, const std::uint32_t (&wanted)[3], Dim3 most) {
  if (wanted[0] && wanted[0] <= most.x) shape.x = wanted[0];
  if (wanted[1] && wanted[1] <= most.y) shape.y = wanted[1];
  if (wanted[2] && wanted[2] <= most.z) shape.z = wanted[2];
}

/// As large as `__launch_bounds__` lets it be.
Dim3 withinBound(Dim3 block, std::uint32_t mostThreads) {
  if (mostThreads && block.y == 1 && block.z == 1) block.x = std::min(block.x, mostThreads);
  while (mostThreads && std::uint64_t(block.x) * block.y * block.z > mostThreads) {
    std::uint32_t& widest = block.z > block.y ? block.z : block.y > block.x ? block.y : block.x;
    widest = std::max(widest / 2, 1u);
  }
  return block;
}

/// `usual`, or as the kernel wants it: along the other axes as usual where there is room, else one wide.
Dim3 wantedBlock(const Dim3& usual, const UsedAxes& used) {
  auto threads = [](const Dim3& block) { return std::uint64_t(block.x) * block.y * block.z; };
  for (Dim3 block : {usual, Dim3{1, 1, 1}}) {
    takeWanted(block, used.wantedBlock, {1024, 1024, 64});
    if (threads(block) <= 1024) return block;
  }
  return usual; // it compares with numbers of different shapes
}

bool sameCase(const Launch& a, const Launch& b) {
  if (a.grid != b.grid || a.block != b.block || a.sharedBytes != b.sharedBytes ||
      a.arguments.size() != b.arguments.size())
    return false;
  if (a.mayBeOne != b.mayBeOne || !sameFormulas(a, b)) return false;
  if (a.unfollowed.known() != b.unfollowed.known()) return false;
  for (std::size_t i = 0; i < a.arguments.size(); ++i)
    if (a.arguments[i].value != b.arguments[i].value ||
        a.arguments[i].allocation != b.arguments[i].allocation ||
        a.arguments[i].byteOffset != b.arguments[i].byteOffset ||
        a.arguments[i].freed.known() != b.arguments[i].freed.known() ||
        a.arguments[i].passed != b.arguments[i].passed)
      return false;
  return true;
}

/// The launches of the program: each by itself, or the last ones as one.
void planKnown(LaunchPlan& plan, std::vector<const Launch*> launches, UsedAxes used, const Options& options) {
  std::vector<const Launch*> rest;
  if (launches.size() > kMostLaunches) {
    // Those that pass a buffer twice are like no other.
    std::ranges::partition(launches, [](const Launch* launch) { return passesTwice(*launch); });
    rest.assign(launches.begin() + kMostLaunches - 1, launches.end());
    launches.resize(kMostLaunches - 1);
    std::ranges::sort(launches);
  }
  for (const Launch* launch : launches) plan.concrete.push_back(fromLaunch(*launch, used, options));
  if (rest.empty()) return;
  if (auto joined = joinedLaunch(rest)) {
    plan.made.push_back(std::make_shared<Launch>(std::move(*joined)));
    PlannedCase& last = plan.concrete.emplace_back(fromLaunch(*plan.made.back(), used, options));
    last.holdsFor += fmt::format(" and {} like it", rest.size() - 1);
  } else {
    plan.leftOut =
        fmt::format("the launch at line {} is one of more than {} that are not alike, and was not looked at",
                    rest.front()->where.line, kMostLaunches);
  }
}

/// The shape of the options; with any arguments, and with those of the launches that pass a buffer twice.
void planShape(LaunchPlan& plan, const std::vector<const Launch*>& launches, const Kernel& kernel,
               UsedAxes used, const Options& options) {
  for (const Launch* launch : launches) {
    if (!passesTwice(*launch)) continue;
    if (plan.concrete.size() == kMostLaunches) {
      plan.leftOut = fmt::format("the launch at line {} is one of more than {} that pass a buffer twice, and "
                                 "was not looked at",
                                 launch->where.line, kMostLaunches);
      break;
    }
    auto shaped = std::make_shared<Launch>(*launch);
    PlannedCase planned = fromOptions(kernel, used, options);
    shaped->origin = LaunchOrigin::Option;
    shaped->block = planned.shown.block;
    shaped->grid = planned.shown.grid;
    planned.launch.launch = shaped.get();
    planned.launch.sharedBytes = launch->sharedBytes;
    if (launch->where.known())
      planned.holdsFor += fmt::format(" with the arguments of line {}", launch->where.line);
    plan.made.push_back(std::move(shaped));
    plan.concrete.push_back(std::move(planned));
  }
  if (plan.concrete.empty() || plan.concrete.size() < launches.size())
    plan.concrete.push_back(fromOptions(kernel, used, options));
}

void setShape(PlannedCase& invented, const Dim3& block, const Dim3& grid) {
  fix(invented.launch.block, block);
  fix(invented.launch.grid, grid);
  invented.shown.block = block;
  invented.shown.grid = grid;
  invented.holdsFor = launchText(invented.shown) + ", kcheck's own choice: no launch is known";
}

} // namespace

static bool chooseShape(LaunchPlan& plan, const Dim3& block, const Dim3& grid) {
  if (std::uint64_t(block.x) * block.y * block.z > plan.any.mostThreads.value_or(1024)) return false;
  setShape(plan.concrete.front(), block, grid);
  return true;
}

bool chooseWidth(LaunchPlan& plan, std::uint32_t threads, std::uint32_t blocks) {
  const Launch& shown = plan.concrete.front().shown;
  Dim3 block = shown.block.whole().value_or(Dim3{}), grid = shown.grid.whole().value_or(Dim3{});
  block.x = threads;
  grid.x = blocks;
  return chooseShape(plan, block, grid);
}

bool chooseBlock(LaunchPlan& plan, const Dim3& block) {
  return chooseShape(plan, block, plan.concrete.front().shown.grid.whole().value_or(Dim3{}));
}

bool covers(const LaunchCase& any, const LaunchCase& launch) {
  if (!any.mayAlias && launch.launch && passesTwice(*launch.launch)) return false;
  auto within = [](const auto& wide, const auto& narrow) {
    for (unsigned axis = 0; axis < 3; ++axis)
      if (wide[axis] && wide[axis] != narrow[axis]) return false;
    return true;
  };
  return within(any.block, launch.block) && within(any.grid, launch.grid);
}

/// Of a plan's `any`.
static unsigned freeAxes(const std::array<std::optional<std::uint32_t>, 3>& extents) {
  unsigned axes = 0;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (!extents[axis]) axes |= 1u << axis;
  return axes;
}

std::vector<PlannedCase> candidatesFor(const LaunchPlan& plan, const std::vector<std::uint32_t>& sizes) {
  constexpr std::size_t kMostSizes = 2;
  std::vector<PlannedCase> result;
  std::uint32_t widest = 0;
  bool oneShape = true;
  for (const PlannedCase& known : plan.concrete) {
    if (!known.launch.fixedBlock()) return {};
    widest = std::max(widest, *known.launch.block[0]);
    oneShape = oneShape && known.launch.block == plan.concrete.front().launch.block;
  }
  if (plan.concrete.empty() || plan.any.block[0]) return {};
  const bool isFlat = plan.any.block[1] && plan.any.block[2];
  const unsigned gridAxes = freeAxes(plan.any.grid);
  const std::string grid = gridText(gridAxes), blocks = gridAxes == 0 ? "block" : "blocks";
  if (isFlat) {
    std::vector<std::uint32_t> limits{widest};
    for (std::uint32_t size : sizes)
      if (size > widest && size < 1024) limits.push_back(size);
    std::sort(limits.rbegin(), limits.rend());
    limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
    if (limits.size() > kMostSizes) limits.erase(limits.begin() + 1, limits.end() - 1);
    for (std::uint32_t limit : limits) {
      PlannedCase& candidate = result.emplace_back();
      candidate.launch = plan.any;
      candidate.launch.mostThreads = limit;
      candidate.holdsFor = fmt::format("{} {} of up to {} threads", grid, shapeText(1, "", blocks), limit);
    }
  }
  if (oneShape) {
    PlannedCase& candidate = result.emplace_back();
    candidate.launch = plan.any;
    candidate.launch.block = plan.concrete.front().launch.block;
    candidate.holdsFor =
        fmt::format("{} {} of {} threads", grid, blocks, toString(plan.concrete.front().shown.block));
  }
  return result;
}

LaunchPlan planLaunches(const Facts& facts, const Kernel& kernel, UsedAxes used, const Options& options) {
  LaunchPlan plan;
  const bool someRuns = std::ranges::any_of(facts.launches, [&](const Launch& launch) {
    return launch.kernel == kernel.symbol && whyInvalid(launch).empty();
  });
  std::vector<const Launch*> launches;
  for (const Launch& launch : facts.launches) {
    if (launch.kernel != kernel.symbol || (someRuns && !whyInvalid(launch).empty())) continue;
    if (std::ranges::none_of(launches, [&](const Launch* other) { return sameCase(launch, *other); }))
      launches.push_back(&launch);
  }
  const bool isTold = !launches.empty() || options.block || options.grid || facts.hasMain;
  if (used.grid == 0 && isTold) used.grid = 1; // one block is kcheck's own choice alone
  plan.any.mayAlias = options.mayAlias;
  if (used.mostThreads) plan.any.mostThreads = std::min(used.mostThreads, 1024u);
  narrowUnused(plan.any, used);
  plan.isNarrowed = used.block != 7 || used.grid != 7;
  plan.anyText = freeText(used);
  if (options.block || options.grid) {
    planShape(plan, launches, kernel, used, options);
    return plan;
  }
  planKnown(plan, std::move(launches), used, options);
  if (!plan.concrete.empty()) return plan;
  plan.isDefault = true;
  PlannedCase& invented = plan.concrete.emplace_back();
  invented.launch.mayAlias = options.mayAlias;
  const unsigned blockAxes = used.block & used.ownBlock, gridAxes = used.grid & used.ownGrid;
  unsigned dimensions = (blockAxes & 4) ? 3 : (blockAxes & 2) ? 2 : 1;
  Dim3 block = dimensions == 1 ? Dim3{128, 1, 1} : dimensions == 2 ? Dim3{16, 16, 1} : Dim3{8, 8, 4};
  if (!(used.block & 1)) block.x = 1;
  Dim3 grid{(used.grid & 1) ? 4u : 1u, (gridAxes & 2) ? 4u : 1u, (gridAxes & 4) ? 4u : 1u};
  const std::array<Dim3, 2> usual{withinBound(block, used.mostThreads), grid};
  block = withinBound(wantedBlock(block, used), used.mostThreads);
  takeWanted(grid, used.wantedGrid, {2147483647, 65535, 65535});
  if (usual != std::array{block, grid}) plan.usual = usual;
  invented.shown.kernel = kernel.symbol;
  invented.shown.origin = LaunchOrigin::Symbolic;
  setShape(invented, block, grid);
  return plan;
}

} // namespace kcheck::analyzer
