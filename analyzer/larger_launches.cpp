#include "analyzer/larger_launches.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <fmt/format.h>

#include <algorithm>
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
  return (larger.isUneven || !race.sameValue) && goesThere(*race.first) && goesThere(*race.second);
}

LargerLaunch inAnotherShape(PlannedCase planned) {
  show(planned);
  LargerLaunch result;
  result.lean = fmt::format("a launch of another shape, {}", planned.holdsFor);
  result.planned = std::move(planned);
  result.isUneven = true;
  return result;
}

/// More threads along x, and more blocks.
LargerLaunch widerLaunch(const LaunchPlan& plan) {
  PlannedCase wider = plan.concrete.front();
  LaunchCase& launch = wider.launch;
  const std::uint32_t most = plan.any.mostThreads.value_or(1024), manyBlocks = 4096;
  if (!plan.isFitted) launch.block[0] = std::min(*launch.block[0] * 4, most);
  if (*launch.grid[0] > 1) launch.grid[0] = manyBlocks;
  return inAnotherShape(std::move(wider));
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

std::vector<LargerLaunch> unevenLaunches(const LaunchPlan& plan, bool hasRun) {
  if (!plan.isDefault || plan.concrete.empty()) return {};
  const auto& chosen = plan.concrete.front().launch;
  const bool isFlat = plan.isFitted || !chosen.block[1] || *chosen.block[1] == 1;
  if (isFlat && hasRun) return {}; // which shows how many threads and blocks there are
  if (isFlat) return {widerLaunch(plan)};
  const bool isCube = chosen.block[2] && *chosen.block[2] > 1;
  constexpr std::uint32_t kWide = 16, kHalf = 8, kCube[] = {8, 4, 2}, kBlocks[] = {4, 3, 2};
  std::vector<LargerLaunch> result;
  for (const bool isWide : {true, false}) {
    PlannedCase uneven = plan.concrete.front();
    LaunchCase& launch = uneven.launch;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t size = isWide ? axis : 2 - axis;
      if (isCube) launch.block[axis] = kCube[size];
      if (*launch.grid[axis] > 1) launch.grid[axis] = kBlocks[size];
    }
    if (!isCube) {
      launch.block[0] = isWide ? kWide : kHalf;
      launch.block[1] = isWide ? kHalf : kWide;
    }
    result.push_back(inAnotherShape(std::move(uneven)));
  }
  return result;
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
