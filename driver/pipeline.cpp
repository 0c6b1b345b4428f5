// Runs both passes over a compiled program and joins what they say. See pipeline.h.
#include "driver/pipeline.h"

#include "driver/replay.h"
#include "report/kernel_name.h"
#include "report/merge.h"
#include "report/nearest.h"

#include <fmt/format.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <tuple>

namespace kcheck::driver {
namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Runs the program, or says why it is not run: what the static pass says stands without it.
OrError<RunPart> observe(const frontend::Program& program, const Options& options) {
  RunPart part;
  if (!options.wantRun) {
    part.run.notRunBecause = "--static";
    return part;
  }
  if (!program.facts.hasMain) {
    part.run.notRunBecause =
        "no main and no launch line; give one with --launch='k<<<8,128>>>(float[1000], 1000)'";
    if (options.wantStatic) return part;
    return Error{
        fmt::format("nothing to run in {}: {}", joined(program.facts.files), part.run.notRunBecause)};
  }
  auto seen = instrument::checkRun(*program.device, program.hostObjects, program.facts, options.instrument);
  if (!seen && options.wantStatic) {
    part.run.couldNotRun = true;
    part.run.notRunBecause = seen.error().message;
    return part;
  }
  if (!seen) return seen.error();
  return RunPart{std::move(seen->findings), std::move(seen->metrics), std::move(seen->run)};
}

/// As a shell counts, when a signal made kcheck stop the program; else 0.
int interruption(const RunResult& run) {
  bool asked = run.signal == SIGINT || run.signal == SIGTERM || run.signal == SIGHUP;
  return asked && !run.stoppedBecause.empty() ? 128 + run.signal : 0;
}

} // namespace

void findMain(Facts& facts, const Options& options) {
  if (!facts.hasMain && options.wantRun) facts.hasMain = instrument::librariesHaveMain(options.instrument);
}

OrError<std::monostate> findKernels(const frontend::Program& program, Options& options) {
  const Facts& facts = program.facts;
  std::vector<Kernel> kernels = facts.kernels;
  kernels.insert(kernels.end(), program.unchecked.begin(), program.unchecked.end());
  const bool hostAlone = facts.hasMain && options.wantRun && options.analyzer.kernels.empty();
  if (kernels.empty() && !hostAlone) // else the run looks at what the host does
    return Error{
        fmt::format("no kernel in {}: nothing to check; is it a CUDA file with a __global__ function?",
                    joined(facts.files))};
  std::vector<std::string> symbols, names;
  for (const Kernel& kernel : kernels) names.emplace_back(bareKernelName(kernel.name));
  for (const std::string& wanted : options.analyzer.kernels) {
    const std::size_t before = symbols.size();
    for (const Kernel& kernel : kernels)
      if (namesKernel(wanted, kernel.symbol, kernel.name)) symbols.push_back(kernel.symbol);
    if (symbols.size() > before) continue;
    const auto nearest = nearestWord(wanted, names);
    return Error{fmt::format("--kernel={}: there is no such kernel; {}", wanted,
                             nearest ? "did you mean `" + *nearest + "`?" : "there are " + joined(names))};
  }
  options.analyzer.kernels = std::move(symbols);
  return std::monostate{};
}

/// Kernels that nobody has looked at are in the report as well, with nothing known.
static void addUnchecked(Report& report, const std::vector<Kernel>& unchecked, const Options& options) {
  const std::vector<std::string>& wanted = options.analyzer.kernels;
  for (const Kernel& kernel : unchecked) {
    if (!wanted.empty() && std::ranges::find(wanted, kernel.symbol) == wanted.end()) continue;
    KernelResult& result = report.kernels.emplace_back();
    result.symbol = kernel.symbol;
    result.name = kernel.name;
    result.where = kernel.where;
    for (const Property property :
         {Property::RaceFree, Property::BarriersUniform, Property::InBounds, Property::Initialized}) {
      PropertyResult& open = result.properties.emplace_back();
      open.property = property;
      open.reason =
          fmt::format("it is a template without an instance (line {}), and kcheck found none that compiles, "
                      "of float, int or a function object of the file; add one, as `template __global__ void "
                      "{}<...>(...);`",
                      kernel.where.line, kernel.name);
    }
  }
  std::ranges::sort(report.kernels, {},
                    [](const KernelResult& kernel) { return std::tie(kernel.where, kernel.symbol); });
}

OrError<Report> check(const frontend::Program& program, const Options& options) {
  const Facts& facts = program.facts;
  auto start = std::chrono::steady_clock::now();
  analyzer::Analysis analysis;
  if (options.wantStatic) analysis = analyzer::analyze(*program.device, facts, options.analyzer);
  double staticSeconds = secondsSince(start);

  auto runPart = observe(program, options);
  if (!runPart) return runPart.error();

  std::optional<StaticPart> staticPart;
  if (options.wantStatic) {
    start = std::chrono::steady_clock::now();
    if (runPart->run.ran)
      analyzer::settle(analysis, *program.device, facts, runPart->run.seen, runPart->findings,
                       options.analyzer);
    staticSeconds += secondsSince(start);
    if (options.wantRun && !facts.hasMain) replay(analysis, program, options);
    analysis.findings.insert(analysis.findings.end(), program.findings.begin(), program.findings.end());
    staticPart = StaticPart{std::move(analysis.findings), std::move(analysis.kernels),
                            std::move(analysis.metrics), std::move(analysis.briefKernels), staticSeconds};
  }

  MergeOptions merging;
  merging.version = KCHECK_VERSION;
  merging.rules = options.rules;
  merging.kernels = options.analyzer.kernels;
  merging.strict = options.strict;
  Report report = mergeReport(facts, std::move(staticPart), std::move(*runPart), merging);
  addUnchecked(report, program.unchecked, options);
  return report;
}

int exitStatus(const Report& report, const Options& options) {
  if (int status = interruption(report.run)) return status;
  const Summary summary = summarize(report);
  if (!report.disagreements.empty() || !report.run.unsupported.empty()) return 2;
  if (report.run.couldNotRun) return 2;
  if (options.failOn != FailOn::Never && summary.errors > 0) return 1;
  if (options.failOn == FailOn::Warning && summary.warnings > 0) return 1;
  if (options.strict && summary.unknown > 0) return 1;
  const bool programFailed = report.run.exitStatus != 0 || report.run.signal != 0 || report.run.timedOut;
  if (report.run.ran && programFailed && summary.errors == 0) return 3;
  return 0;
}

std::string dumpOf(const frontend::Program& program, const Options& options) {
  if (options.dump == Dump::Model)
    return analyzer::dumpModel(*program.device, program.facts, options.analyzer);
  std::string text;
  llvm::raw_string_ostream out(text);
  program.device->print(out, nullptr);
  return text;
}

} // namespace kcheck::driver
