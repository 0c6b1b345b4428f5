#include "analyzer/larger_launches.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace kcheck::analyzer {
namespace {

/// Two warps, and as many blocks as show that some are not neighbours.
constexpr std::uint32_t kThreads = 64, kBlocks = 4;

bool isOneWide(const LaunchPlan& plan, std::array<std::optional<std::uint32_t>, 3> LaunchCase::* axes) {
  return std::ranges::all_of(plan.concrete, [&](const PlannedCase& planned) {
    const auto& width = (planned.launch.*axes)[0];
    return width && *width == 1;
  });
}

/// The host's own values, which the source does not show.
bool followsHost(Expr expression) {
  return anyNode(expression, [](Expr n) {
    return n->op == Op::Symbol &&
           (n->symbol->cause.kind == CauseKind::Launch || n->symbol->cause.kind == CauseKind::AnyInput);
  });
}

/// Whether it is sure where the access goes, but for what is in arrays that the kernel only reads.
bool goesThere(const ModelAccess& access) {
  return !followsHost(access.offset) && std::ranges::all_of(causesOf(access.offset), [](const Cause& cause) {
    return cause.kind == CauseKind::Launch;
  });
}

/// The launch in words.
void show(PlannedCase& planned) {
  const LaunchCase& launch = planned.launch;
  planned.shown.block = Extent(launch.block[0], launch.block[1], launch.block[2]);
  planned.shown.grid = Extent(launch.grid[0], launch.grid[1], launch.grid[2]);
  planned.holdsFor = fmt::format("<<<{}, {}>>>", toString(planned.shown.grid), toString(planned.shown.block));
}

bool tells(const RaceResult& race, const LargerLaunch& larger) {
  return (larger.isUneven || !race.sameValue) && !race.takesSizes && goesThere(*race.first) &&
         goesThere(*race.second);
}

LargerLaunch inAnotherShape(PlannedCase planned) {
  show(planned);
  LargerLaunch result;
  result.lean = fmt::format("a launch of another shape, {}", planned.holdsFor);
  result.planned = std::move(planned);
  result.isUneven = true;
  return result;
}

constexpr std::uint32_t kManyBlocks = 4096, kMostThreads = 1024;

std::uint32_t mostThreads(const LaunchPlan& plan) { return plan.any.mostThreads.value_or(kMostThreads); }

/// More threads along x, and more blocks.
LargerLaunch widerLaunch(const LaunchPlan& plan, const Fits& fits) {
  PlannedCase wider = plan.concrete.front();
  LaunchCase& launch = wider.launch;
  const std::uint32_t usual = *launch.block[0], most = mostThreads(plan);
  if (*launch.grid[0] > 1) launch.grid[0] = kManyBlocks;
  if (!plan.isFitted) {
    for (launch.block[0] = most; *launch.block[0] > usual; launch.block[0] = *launch.block[0] / 2)
      if (fits(launch)) return inAnotherShape(std::move(wider));
    launch.block[0] = std::min(usual * 4, most);
  }
  return inAnotherShape(std::move(wider));
}

/// Three warps: what is halved again and again is odd in the end.
std::optional<LargerLaunch> oddLaunch(const LaunchPlan& plan, const Fits& fits) {
  constexpr std::uint32_t kThreeWarps = 96;
  PlannedCase odd = plan.concrete.front();
  odd.launch.block[0] = kThreeWarps;
  if (plan.isFitted || mostThreads(plan) < kThreeWarps || !fits(odd.launch)) return {};
  return inAnotherShape(std::move(odd));
}

/// So many threads, or fewer, some times as wide as high.
std::array<std::uint32_t, 3> unevenBlock(unsigned power, bool isCube) {
  if (!isCube) return {1u << (power / 2 + 1), 1u << (power - power / 2 - 1), 1};
  if (power >= 10) return {32, 8, 4};
  if (power >= 9) return {16, 8, 4};
  return {8, 4, 2};
}

/// The largest of these that fits, or else one of two warps or four.
LaunchCase unevenLaunch(const LaunchPlan& plan, bool isWide, bool isCube, const Fits& fits) {
  constexpr std::uint32_t kBlocks[] = {4, 3, 2};
  constexpr unsigned kLeast = 7;
  LaunchCase launch = plan.concrete.front().launch;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (*launch.grid[axis] > 1) launch.grid[axis] = kBlocks[isWide ? axis : 2 - axis];
  const std::size_t last = isCube ? 2 : 1;
  for (unsigned power = unsigned(std::bit_width(mostThreads(plan))) - 1;; --power) {
    const auto sizes = unevenBlock(std::max(power, 1u), isCube);
    for (std::size_t axis = 0; axis <= last; ++axis) launch.block[axis] = sizes[isWide ? axis : last - axis];
    if (power <= kLeast || fits(launch)) return launch;
  }
}

/// `i & 8191`, `i % 5000`, `(unsigned short)i`: the same for indices that only large launches have.
bool comesRoundLate(Expr n) {
  constexpr std::int64_t kLate = kManyBlocks;
  if (n->op == Op::Trunc) return n->width >= 12 && n->width < 32 && anyNode(n->operands[0], isIndex);
  if (n->op != Op::And && n->op != Op::URem && n->op != Op::SRem) return false;
  return std::ranges::any_of(n->operands, [](Expr e) { return isConst(e) && e->value >= kLate - 1; }) &&
         anyNode(n, isIndex);
}

} // namespace

SharedOut sharedOut(const llvm::Function& kernel) {
  SharedOut result;
  for (const llvm::Instruction& instruction : llvm::instructions(kernel)) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call) continue;
    result.toThreads |= call->getIntrinsicID() == llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x;
    result.toBlocks |= call->getIntrinsicID() == llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x;
  }
  return result;
}

std::optional<LargerLaunch> largerLaunch(const LaunchPlan& plan, SharedOut sharedOut) {
  if (plan.isDefault || plan.concrete.empty() || !plan.concrete.front().launch.isOfProgram()) return {};
  const bool threads = sharedOut.toThreads && isOneWide(plan, &LaunchCase::block);
  const bool blocks = sharedOut.toBlocks && isOneWide(plan, &LaunchCase::grid);
  if (!threads && !blocks) return {};
  LargerLaunch result;
  result.planned = plan.concrete.front();
  LaunchCase& launch = result.planned.launch;
  if (threads) launch.block[0] = kThreads;
  if (blocks) launch.grid[0] = kBlocks;
  show(result.planned);
  const char* what = threads && blocks ? "one thread" : blocks ? "one block" : "one thread a block";
  result.lean = fmt::format("a larger launch, {}: the program starts {}", result.planned.holdsFor, what);
  return result;
}

std::vector<LargerLaunch> unevenLaunches(const LaunchPlan& plan, bool hasRun, const Fits& fits) {
  if (!plan.isDefault || plan.concrete.empty()) return {};
  const auto& chosen = plan.concrete.front().launch;
  const bool isFlat = plan.isFitted || !chosen.block[1] || *chosen.block[1] == 1;
  if (isFlat && hasRun) return {}; // which shows how many threads and blocks there are
  std::vector<LargerLaunch> result;
  if (isFlat) {
    result.push_back(widerLaunch(plan, fits));
    if (auto odd = oddLaunch(plan, fits)) result.push_back(std::move(*odd));
    return result;
  }
  const bool isCube = chosen.block[2] && *chosen.block[2] > 1;
  for (const bool isWide : {true, false}) {
    PlannedCase uneven = plan.concrete.front();
    uneven.launch = unevenLaunch(plan, isWide, isCube, fits);
    result.push_back(inAnotherShape(std::move(uneven)));
  }
  return result;
}

std::optional<LargerLaunch> vastLaunch(const LaunchPlan& plan, const LargerLaunch& wider,
                                       const KernelModel& any) {
  constexpr std::uint32_t kVast = 1u << 17;
  if (*wider.planned.launch.grid[0] != kManyBlocks) return {};
  const bool isLate = std::ranges::any_of(any.gridPhases, [](const Phase& phase) {
    return std::ranges::any_of(phase.accesses, [](const ModelAccess& access) {
      return access.offset && anyNode(access.offset, comesRoundLate);
    });
  });
  if (!isLate) return {};
  PlannedCase vast = plan.concrete.front();
  vast.launch = wider.planned.launch;
  vast.launch.grid[0] = kVast;
  return inAnotherShape(std::move(vast));
}

std::optional<LargerLaunch> usualLaunch(const LaunchPlan& plan) {
  if (!plan.usual || plan.concrete.empty()) return {};
  PlannedCase usual = plan.concrete.front();
  const auto& [block, grid] = *plan.usual;
  usual.launch.block = {block.x, block.y, block.z};
  usual.launch.grid = {grid.x, grid.y, grid.z};
  return inAnotherShape(std::move(usual));
}

void keepTellingRaces(KernelAnswers& answers, const LargerLaunch& larger) {
  std::erase_if(answers.races, [&](const RaceResult& race) { return !tells(race, larger); });
  answers.divergences.clear();
  answers.bounds.clear();
  answers.askew.clear();
}

void wordAsLarger(Finding& finding, const LargerLaunch& larger) {
  finding.verdict = Verdict::Possible;
  finding.severity = Severity::Note; // nothing is wrong with the program as it is
  finding.reason = larger.lean;
  finding.leansOnHost = false;
  finding.holdsFor.clear();
}

} // namespace kcheck::analyzer
