#include "driver/replay.h"

#include "driver/replay_lines.h"
#include "report/formulas.h"
#include "report/hints.h"
#include "report/kernel_name.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

namespace kcheck::driver {
namespace {

constexpr double kSeconds = 3;           ///< of one replay
constexpr std::size_t kMostKernels = 16; ///< to replay
constexpr std::uint64_t kSharedBytes = 16384;

bool usesDynamicShared(const llvm::Module& device) {
  return llvm::any_of(device.globals(), [](const llvm::GlobalVariable& variable) {
    return variable.getAddressSpace() == 3 && variable.isDeclaration();
  });
}

/// In the shape that the static pass has looked at; a free axis gets a width.
Shape shapeOf(const KernelResult& result) {
  const auto chosen = [](const Extent& known, Dim3 otherwise) {
    return Dim3{known.x.value_or(otherwise.x), known.y.value_or(otherwise.y), known.z.value_or(otherwise.z)};
  };
  return {chosen(result.launches.front().grid, {4, 1, 1}),
          chosen(result.launches.front().block, {128, 1, 1})};
}

/// Whether the program's launches may all be of other shapes: what decides is not followed to the end.
bool mayDiffer(const Launch& launch) {
  if (launch.origin != LaunchOrigin::LaunchSite || (launch.grid.whole() && launch.block.whole()))
    return false;
  std::set<unsigned> own;
  for (const auto& axis : launch.gridFormulas)
    if (axis) own.merge(variablesOf(*axis));
  for (const Argument& argument : launch.arguments)
    if (argument.formula) own.merge(variablesOf(*argument.formula));
  const bool isLimited = llvm::any_of(launch.conditions, [&](const Formula& condition) {
    return llvm::all_of(variablesOf(condition), [&](unsigned number) { return own.contains(number); });
  });
  return !launch.block.whole() || isLimited || launch.unfollowed.known();
}

/// Of the two accesses of a race; nothing of other findings.
std::optional<std::pair<SiteId, SiteId>> sitesOf(const Finding& finding) {
  if (finding.accesses.size() != 2) return {};
  return std::minmax({finding.accesses[0].site, finding.accesses[1].site});
}

/// What the static pass has left open of a kernel.
struct Open {
  std::vector<analyzer::OpenRace> races;
  bool barriers = false; ///< whether all threads come to them, and lanes together
  bool any() const { return barriers || !races.empty(); }
};

Open openOf(const KernelResult& result, const analyzer::Analysis& analysis) {
  Open open;
  llvm::copy_if(analysis.openRaces, std::back_inserter(open.races),
                [&](const analyzer::OpenRace& race) { return race.kernel == result.symbol; });
  open.barriers = llvm::any_of(result.properties, [](const PropertyResult& property) {
    return property.property == Property::BarriersUniform && property.answer == Answer::Unknown;
  });
  return open;
}

bool isAboutBarriers(const Finding& finding) {
  return finding.rule == "barrier-divergence" || finding.rule == "warp-mask";
}

bool isOpen(const Finding& finding, const Open& open) {
  const auto sites = sitesOf(finding);
  if (finding.severity != Severity::Error) return false;
  if (isAboutBarriers(finding)) return open.barriers;
  return sites && llvm::any_of(open.races, [&](const analyzer::OpenRace& race) {
           return std::minmax({race.first, race.second}) == *sites;
         });
}

void doubt(Finding& finding, const char* reason) {
  finding.verdict = Verdict::Possible;
  finding.severity = Severity::Warning;
  finding.reason = reason;
}

/// One launch to try, and its number among those that the built program has.
struct Trial {
  std::string line;
  Attempt attempt;
  std::size_t number = 0;
};

/// What is open of a kernel, and what is tried for it.
struct Plan {
  const KernelResult* kernel;
  Open open;
  std::vector<Trial> trials;
};

/// A program with launches to choose from.
struct Replayer {
  instrument::BuiltProgram program;
  Facts facts;
  instrument::Options running;
};

/// Nothing where the lines do not build together. Numbers the trials.
std::optional<Replayer> built(const std::vector<Plan*>& plans, const Options& options) {
  frontend::Options compiling = options.frontend;
  compiling.launchLines.clear();
  compiling.isOwnLaunch = true;
  instrument::Options running = options.instrument;
  running.timeoutSeconds = running.timeoutSeconds > 0 ? std::min(kSeconds, running.timeoutSeconds) : kSeconds;
  for (Plan* plan : plans) {
    running.replayed.insert(plan->kernel->symbol);
    for (Trial& trial : plan->trials) {
      trial.number = compiling.launchLines.size();
      compiling.launchLines.push_back(trial.line);
    }
  }
  auto program = frontend::compile(compiling);
  if (!program) return std::nullopt;
  auto object =
      instrument::BuiltProgram::build(*program->device, program->hostObjects, program->facts, running);
  if (!object) return std::nullopt;
  return Replayer{std::move(*object), std::move(program->facts), std::move(running)};
}

/// What a trial sees of what is open of its kernel.
std::vector<Finding> seenIn(const Replayer& replayer, const Trial& trial, const Launch& known,
                            const Open& open, const Facts& facts) {
  if (replayer.facts.sites.size() != facts.sites.size()) return {};
  instrument::Options running = replayer.running;
  running.programArguments = {std::to_string(trial.number)};
  auto seen = replayer.program.run(replayer.facts, running);
  std::vector<Finding> races;
  if (!seen) return races;
  for (Finding& finding : seen->findings) {
    if (!isOpen(finding, open)) continue;
    finding.verdict = Verdict::Confirmed;
    // Whether threads part at a barrier, numbers decide, and what is in arrays: a program's launch may have
    // others.
    if (isAboutBarriers(finding)) doubt(finding, "the numbers and arrays of a launch of kcheck's own");
    if (mayDiffer(known)) doubt(finding, "the shape of a launch of kcheck's own");
    finding.count = 0;
    if (finding.memory) finding.memory->allocatedAt = {};
    finding.notes.push_back(
        {finding.where, fmt::format("seen in a launch of kcheck's own: --launch='{}'", trial.line)});
    races.push_back(std::move(finding));
  }
  return races;
}

/// In place of what the static pass takes for possible; not where the run saw no more than one value written,
/// and there may be others.
void take(const Finding& seen, std::vector<Finding>& findings) {
  if (isAboutBarriers(seen)) {
    const bool isKnown = llvm::any_of(findings, [&](const Finding& one) {
      return one.rule == seen.rule && one.kernel == seen.kernel && one.where.line == seen.where.line;
    });
    if (!isKnown) findings.push_back(seen);
    return;
  }
  const auto sites = sitesOf(seen);
  auto isReplaced = [&](const Finding& one) {
    return one.verdict == Verdict::Possible && sitesOf(one) == sites && one.kernel == seen.kernel;
  };
  if (seen.sameValue && llvm::any_of(findings, isReplaced)) return;
  Finding told = seen;
  for (const Finding& one : findings)
    if (isReplaced(one) && saysMore(one.hint, told.hint)) told.hint = one.hint;
  llvm::erase_if(findings, isReplaced);
  findings.push_back(std::move(told));
}

/// Numbers are sizes more often than not, of one element for each thread, or of some less; else they may be
/// switches, and off; not where a flag is compared with one, for flags are 0 before they are set.
std::vector<Attempt> attemptsFor(const Open& open, std::uint64_t threads, bool asksForNumbers) {
  std::vector<Attempt> attempts;
  if (open.barriers) attempts.push_back({threads - std::min<std::uint64_t>(threads / 2, 5)});
  if (!open.races.empty())
    attempts.insert(attempts.end(),
                    {{threads}, {threads, true}, {threads, true, true}, {threads, true, true, true}});
  if (!open.races.empty() && !asksForNumbers) attempts.push_back({0});
  return attempts;
}

} // namespace

/// What to try for each kernel of which something is open.
static std::vector<Plan> plansFor(const analyzer::Analysis& analysis, const frontend::Program& program) {
  const bool wantsShared = usesDynamicShared(*program.device);
  std::vector<Plan> plans;
  for (const KernelResult& result : analysis.kernels) {
    const Kernel* kernel = program.facts.kernel(result.symbol);
    Open open = openOf(result, analysis);
    if (!kernel || !open.any() || result.launches.empty() || plans.size() == kMostKernels) continue;
    const Shape shape = shapeOf(result);
    const Launch& known = result.launches.front();
    const std::uint64_t shared = known.sharedBytes.value_or(wantsShared ? kSharedBytes : 0);
    const auto found = analysis.wanted.find(result.symbol);
    const analyzer::WantedContents wanted =
        found == analysis.wanted.end() ? analyzer::WantedContents{} : found->second;
    std::vector<Trial> trials;
    for (const Attempt& attempt :
         attemptsFor(open, shape.grid.volume() * shape.block.volume(), wanted.asksForNumbers)) {
      Trial trial{launchLineFor(*kernel, known, shape, shared, attempt, wanted), attempt, 0};
      if (llvm::none_of(trials, [&](const Trial& other) { return other.line == trial.line; }))
        trials.push_back(std::move(trial));
    }
    plans.push_back({&result, std::move(open), std::move(trials)});
  }
  return plans;
}

/// Takes over what the trials see; the first that sees something new is the last.
static void tryAll(Plan& plan, const Replayer& replayer, const Facts& facts, analyzer::Analysis& analysis) {
  for (const Trial& trial : plan.trials) {
    // Parts of no size would lie on each other.
    if (trial.attempt.number == 0)
      llvm::erase_if(plan.open.races, [](const analyzer::OpenRace& race) { return race.followsNumbers; });
    if (!plan.open.any()) continue;
    const auto seen = seenIn(replayer, trial, plan.kernel->launches.front(), plan.open, facts);
    for (const Finding& finding : seen) take(finding, analysis.findings);
    if (!llvm::all_of(seen, isAboutBarriers)) return;
  }
}

void replay(analyzer::Analysis& analysis, const frontend::Program& program, const Options& options) {
  std::vector<Plan> plans = plansFor(analysis, program);
  if (plans.empty()) return;
  std::vector<Plan*> all;
  for (Plan& plan : plans) all.push_back(&plan);
  const auto together = built(all, options);
  for (Plan& plan : plans) {
    if (together) {
      tryAll(plan, *together, program.facts, analysis);
    } else if (const auto alone = plans.size() > 1 ? built({&plan}, options) : std::nullopt) {
      tryAll(plan, *alone, program.facts, analysis);
    } else {
      const Kernel* kernel = program.facts.kernel(plan.kernel->symbol);
      fmt::print(stderr, "kcheck: `{}` is not replayed: --launch='{}' does not build here\n",
                 withoutParameters(kernel->name), plan.trials.front().line);
    }
  }
}

} // namespace kcheck::driver
