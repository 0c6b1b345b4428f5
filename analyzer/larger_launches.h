// Launches beside those that are known. A kernel that shares its work out over threads or blocks, and is
// launched with one of them, races with nobody there; what it does with several is told as possible. So is
// what happens in launches of another shape than that which kcheck has chosen.
#pragma once

#include "analyzer/decide/races.h"
#include "analyzer/launches.h"

#include <functional>
#include <optional>
#include <vector>

namespace kcheck::analyzer {

struct LargerLaunch {
  PlannedCase planned; ///< `launch.launch` is to point to `planned.shown`, wherever that lies in the end
  std::string lean;    ///< what a finding leans on
  bool isUneven = false;
};

/// Whether the kernel tells its threads, or its blocks, apart along x.
struct SharedOut {
  bool toThreads = false, toBlocks = false;
};
SharedOut sharedOut(const llvm::Function& kernel);

/// The first of the program's launches with several threads and blocks, where the kernel shares its work out
/// to them and the program never starts more than one. Nothing where it does.
std::optional<LargerLaunch> largerLaunch(const LaunchPlan& plan, SharedOut sharedOut);

/// Whether the kernel's arrays hold what such a launch comes to, as far as those of the chosen one do.
using Fits = std::function<bool(const LaunchCase&)>;

/// Where the shape is kcheck's own choice: as many threads as the kernel can take, and more blocks, and
/// three warps; of more than one axis, blocks wider than high, and higher than wide, for who takes one size
/// for another is right in a square block.
std::vector<LargerLaunch> unevenLaunches(const LaunchPlan& plan, bool hasRun, const Fits& fits);

/// Such a launch of more than 2^24 threads, where places of the kernel, as it is for `any` launch, come round
/// that late (16 bits of an index, products of 24 bits).
std::optional<LargerLaunch> vastLaunch(const LaunchPlan& plan, const LargerLaunch& wider,
                                       const KernelModel& any);

/// One of the usual shape, where the kernel asks whether it has another one, in which it has been looked at:
/// it may do something else then.
std::optional<LargerLaunch> usualLaunch(const LaunchPlan& plan);

/// Only the races of which it is sure where both threads go: a value that the host passes may well be another
/// one in a larger launch, and a loop without closed form may lead elsewhere. Of the same value from several
/// threads only where the shape is another: that is no work done twice.
void keepTellingRaces(KernelAnswers& answers, const LargerLaunch& larger);

/// The finding as one of a launch that is not known to be made.
void wordAsLarger(Finding& finding, const LargerLaunch& larger);

} // namespace kcheck::analyzer
