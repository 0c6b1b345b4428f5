// Launches that are larger than those the program makes. A kernel that shares its work out over threads or
// blocks, and is launched with one of them, races with nobody there; what it does with several is told as
// possible.
#pragma once

#include "analyzer/decide/races.h"
#include "analyzer/launches.h"

#include <optional>

namespace kcheck::analyzer {

struct LargerLaunch {
  PlannedCase planned; ///< `launch.launch` is to point to `planned.shown`, wherever that lies in the end
  std::string lean;    ///< what a finding leans on
};

/// Whether the kernel tells its threads, or its blocks, apart along x.
struct SharedOut {
  bool toThreads = false, toBlocks = false;
};
SharedOut sharedOut(const llvm::Function& kernel);

/// The first of the program's launches with several threads and blocks, where the kernel shares its work out
/// to them and the program never starts more than one. Nothing where it does.
std::optional<LargerLaunch> largerLaunch(const LaunchPlan& plan, SharedOut sharedOut);

/// Only the races of which it is sure where both threads go: a value that the host passes may well be another
/// one in a larger launch, and a loop without closed form may lead elsewhere.
void keepTellingRaces(KernelAnswers& answers);

/// The finding as one of a launch that the program does not make.
void wordAsLarger(Finding& finding, const LargerLaunch& larger);

} // namespace kcheck::analyzer
