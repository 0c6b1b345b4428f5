// The static pass, from outside: a device module and facts in; findings, answers per property and metrics
// out.
#pragma once

#include "report/error.h"
#include "report/report.h"

#include <map>
#include <set>

namespace llvm {
class Module;
}

namespace kcheck::analyzer {

struct Options {
  std::optional<Extent> block, grid; ///< an absent axis is free (`*`)
  std::vector<std::string> kernels;  ///< symbols: only these; empty: all
  bool mayAlias = false;             ///< pointer parameters may overlap
  double kernelSeconds = 10;         ///< budget of one kernel, with a second for a question
  unsigned questionMilliseconds = 1000;
  unsigned jobs = 1;
  bool anyLaunch = true; ///< false: only what holds for the known launches is asked
};

/// Two places that may race unless what the static pass does not follow keeps them apart, such as what atomic
/// operations, flags or locks order: a run does.
struct OpenRace {
  std::string kernel; ///< symbol
  SiteId first = kNoSite, second = kNoSite;
  bool followsNumbers = false; ///< where the places are depends on numbers that the kernel is given
};

/// What a run should find in a kernel's arrays for it to come to what is open, by the names of parameters.
struct WantedContents {
  std::set<std::string> signalled; ///< counters, locks, flags
  std::set<std::string> waitedFor; ///< of these what nobody has set before the launch: a loop waits for it
  bool asksForNumbers = false;     ///< what is found there is compared with numbers that the kernel is given
  /// Numbers other than 0 for which the kernel looks in them (`dist[v] == -1`).
  std::map<std::string, std::int64_t> soughtIn;
};

struct Analysis {
  std::set<std::string> briefKernels; ///< symbols: each thread is done after a few steps, in any launch
  std::vector<Finding> findings;
  std::vector<OpenRace> openRaces;
  std::map<std::string, WantedContents> wanted; ///< of kernels with open races, by symbol
  std::vector<KernelResult> kernels;
  std::vector<Metric> metrics;
  std::set<SiteId>
      provedSafe; ///< sites that neither race nor leave their object, in any launch of the program
};

/// Worth calling early: the solver's processes are copies of one that starts here, which is as small as this
/// one is now.
void prepareSolver();

/// Analyses every kernel of `device` (or those of Options::kernels). The module is not changed.
Analysis analyze(const llvm::Module& device, const Facts& facts, const Options& options);

/// Asks what `analysis` leaves open again for the launches that a run made, whose shapes, sizes and arguments
/// are known however host code came to them; and what it has proved for arrays that do not overlap, where
/// they did. Takes over what is proved then, and errors with exact witnesses. Kernels of which the run has
/// told races already are given little time.
void settle(Analysis& analysis, const llvm::Module& device, const Facts& facts, const SeenLaunches& seen,
            const std::vector<Finding>& toldByRun, const Options& options);

/// The text of --dump=model|phases for the same kernels.
std::string dumpModel(const llvm::Module& device, const Facts& facts, const Options& options);

} // namespace kcheck::analyzer
