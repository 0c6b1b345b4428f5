// The report: what both passes found, proved, measured and could not decide, ready for any writer.
#pragma once

#include "report/finding.h"

namespace kcheck {

enum class Property : std::uint8_t { RaceFree, BarriersUniform, InBounds, Initialized };
enum class Answer : std::uint8_t { Proved, Refuted, Unknown };

const char* toString(Property property);
const char* toString(Answer answer);

struct PropertyResult {
  Property property = Property::RaceFree;
  Answer answer = Answer::Unknown;
  std::string reason;                   ///< of Unknown: line and cause; never empty then
  std::string holdsFor;                 ///< "any launch", a condition, or the launches
  std::vector<std::string> assumptions; ///< what a proof rests on beyond the program text
  bool onlySameValue = false;           ///< Unknown only since several threads write the same without order
  bool runAlone = false; ///< the static pass does not ask this question: the run alone answers it
};

/// What the static pass says of one kernel.
struct KernelResult {
  std::string symbol;
  std::string name;
  Location where;
  std::vector<Launch> launches; ///< those the answers are about
  std::vector<PropertyResult> properties;
};

enum class Source : std::uint8_t { Static, Run };

/// Memory traffic of one access site, in the profilers' own terms: a request is a warp-level instruction, a
/// sector 32 aligned bytes. Sums over the run, or per warp where the static pass says them.
struct Metric {
  std::string kernel;
  SiteId site = kNoSite;
  Location where;
  AccessKind access = AccessKind::Read;
  MemorySpace space = MemorySpace::Global;
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;
  std::uint64_t idealSectors = 0;   ///< the fewest sectors that could hold the distinct bytes requested
  std::uint64_t bytesRequested = 0; ///< by active threads
  std::uint32_t bankWays = 0; ///< most distinct words that one bank must serve in a request; shared only
  Source source = Source::Run;
  bool isExact = true; ///< false: from a sample of a large launch

  /// bytes requested / bytes moved in percent, capped at 100 so that a broadcast counts as full.
  double efficiency() const;
  double sectorsPerRequest() const { return requests ? double(sectors) / double(requests) : 0; }
};

/// How a disagreement names what the proof rests on.
inline constexpr const char* kAssuming = "assuming: ";

/// What an answer holds for that rests on the shapes and arguments that the run used.
inline constexpr const char* kLaunchesOfThisRun = "the launches of this run";

struct RunResult {
  bool ran = false;
  bool couldNotRun = false; ///< there is a program, which was to be run
  int exitStatus = 0;
  int signal = 0;
  bool timedOut = false;
  std::uint64_t stdoutBytes = 0;
  std::uint64_t kernelsLaunched = 0;
  double seconds = 0;
  std::string
      unsupported; ///< "FILE:LINE: FEATURE" that ended a kernel early: what follows is not to be trusted
  std::string stoppedBecause;   ///< kcheck ended the program at a bound that the user had set
  std::string notRunBecause;    ///< when `ran` is false
  std::vector<Launch> launches; ///< distinct kernel/shape pairs that were launched
  SeenLaunches seen;            ///< the same with arguments
  /// Kernels that ran again in other orders of their threads, which were too long to follow to the end.
  std::vector<std::string> cutShort;
};

struct Report {
  std::string version;
  Facts facts;
  std::vector<KernelResult> kernels;
  std::vector<Finding> findings;
  std::vector<Metric> metrics;
  RunResult run;
  bool ranStatic = false;
  double staticSeconds = 0;
  /// Where the run saw what the static pass had proved absent: bugs of kcheck, one sentence each. Never
  /// quiet.
  std::vector<std::string> disagreements;
};

/// What the closing line and the exit status count. Suppressed findings count as suppressed only.
struct Summary {
  std::size_t errors = 0, warnings = 0, notes = 0, suppressed = 0;
  std::size_t kernels = 0;
  std::size_t proved = 0, refuted = 0; ///< properties, over all kernels
  std::size_t unknown = 0;             ///< likewise, of those that were asked
};
Summary summarize(const Report& report);

/// A kernel from a library's header, left to the run, which saw nothing: it counts for no open question.
bool isSilentLibraryKernel(const Report& report, const KernelResult& kernel);

} // namespace kcheck
