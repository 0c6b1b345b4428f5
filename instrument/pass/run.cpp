// Starts the instrumented program and collects what its runtime wrote into the log that both processes map.
#include "instrument/instrument.h"

#include "instrument/pass/collect.h"
#include "instrument/pass/process.h"
#include "instrument/pass/progress.h"
#include "instrument/pass/temporary.h"
#include "instrument/wire.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace kcheck::instrument {

namespace {

/// The memory that the program's runtime writes its log to. The child inherits the descriptor.
class ReportLog {
public:
  ReportLog() : descriptor(memfd_create("kcheck-report", 0)) {
    if (descriptor >= 0 && ftruncate(descriptor, off_t(wire::kCapacity)) != 0) {
      close(descriptor);
      descriptor = -1;
    }
  }
  ~ReportLog() {
    if (descriptor >= 0) close(descriptor);
  }
  ReportLog(const ReportLog&) = delete;
  ReportLog& operator=(const ReportLog&) = delete;

  int get() const { return descriptor; }

private:
  int descriptor;
};

std::string runtimeOptions(const Options& options) {
  const char* schedule = options.schedule == Schedule::Fair       ? "fair"
                         : options.schedule == Schedule::Lockstep ? "lockstep"
                                                                  : "random";
  return fmt::format("KCHECK_OPTIONS=schedule={},seed={},jobs={},eager={},twice={}", schedule, options.seed,
                     options.jobs, int(options.eager), int(options.twice));
}

RunResult resultOf(const ProcessResult& ended) {
  RunResult run;
  run.ran = true;
  run.exitStatus = ended.exitStatus;
  run.signal = ended.signal;
  run.timedOut = ended.timedOut;
  run.seconds = ended.seconds;
  return run; // stdoutBytes stays 0: the program's stdout is its own, so nobody counts it
}

/// A signal that ended kcheck's waiting for the program: what was seen until then is reported, and the driver
/// makes the exit status of it.
void noteInterruption(RunResult& run, int signal) {
  run.signal = signal;
  run.stoppedBecause = fmt::format("kcheck got {}; what the run saw until then is above",
                                   signal == SIGINT    ? "SIGINT"
                                   : signal == SIGTERM ? "SIGTERM"
                                                       : fmt::format("signal {}", signal));
}

/// Of a program that the time was over for.
std::string whatDidNotEnd(const Observation& observation) {
  const auto& [kernel, place] = observation.ranLast;
  std::string text = fmt::format("it had not ended after {:.2f} s", observation.run.seconds);
  if (!kernel.empty()) text += fmt::format("; `{}` was running", kernel);
  if (place.known()) text += fmt::format(", at {}:{} or near", place.file, place.line);
  return text;
}

OrError<Observation> runAndCollect(const std::string& path, const Facts& facts, const Options& options) {
  ReportLog log;
  if (log.get() < 0) return Error{fmt::format("cannot make the run's report log: {}", std::strerror(errno))};
  ProcessOptions program;
  program.arguments = {path};
  program.arguments.insert(program.arguments.end(), options.programArguments.begin(),
                           options.programArguments.end());
  program.environment = {fmt::format("{}={}", wire::kDescriptorVariable, log.get()), runtimeOptions(options)};
  program.timeoutSeconds = options.timeoutSeconds;
  program.memoryLimitMb = options.memoryLimitMb;
  program.isMute = !options.replayed.empty();
  Progress progress(log.get(), STDERR_FILENO);
  if (options.replayed.empty() && progress.isShown()) {
    program.everyMs = Progress::kEveryMs;
    progress.tellPlaces(
        [&](std::uint32_t site) { return site < facts.sites.size() ? facts.sites[site].where.line : 0; });
    program.meanwhile = [&] { progress.show(); };
  }
  auto ended = runProcess(program);
  progress.erase();
  if (!ended) return ended.error();
  Observation observation = collect(log.get(), facts);
  const RunResult logged = std::move(observation.run);
  observation.run = resultOf(*ended);
  observation.run.kernelsLaunched = logged.kernelsLaunched;
  observation.run.launches = logged.launches;
  observation.run.seen = logged.seen;
  observation.run.cutShort = logged.cutShort;
  std::erase_if(observation.findings, [&](const Finding& finding) {
    if (finding.rule != "unsupported") return false;
    observation.run.unsupported =
        fmt::format("{}:{}: {}", finding.where.file, finding.where.line, finding.message);
    return true;
  });
  if (ended->timedOut) observation.run.stoppedBecause = whatDidNotEnd(observation);
  if (ended->outOfMemory)
    observation.run.stoppedBecause =
        fmt::format("it used more than --memory-limit={} MB", options.memoryLimitMb);
  if (ended->interruptedBy) noteInterruption(observation.run, ended->interruptedBy);
  return observation;
}

} // namespace

OrError<Observation> runProgram(const std::string& path, const Facts& facts, const Options& options) {
  return runAndCollect(path, facts, options);
}

std::string BuiltProgram::path() const { return folder->path() + "/program"; }

OrError<BuiltProgram> BuiltProgram::build(const llvm::Module& device,
                                          const std::vector<std::string>& hostObjects, const Facts& facts,
                                          const Options& options) {
  std::vector<std::string> objects = hostObjects;
  std::vector<std::string> unsupported;
  auto object = instrumentDevice(device, facts, options, unsupported);
  if (!object) return object.error();
  objects.push_back(std::move(*object));
  int interruptedBy = 0;
  auto link = [&]() -> OrError<BuiltProgram> {
    auto folder = TemporaryFolder::make();
    if (!folder) return folder.error();
    const BuiltProgram program(std::make_shared<const TemporaryFolder>(std::move(*folder)));
    if (auto linked = linkProgram(objects, options, program.path(), &interruptedBy); !linked)
      return linked.error();
    return program;
  };
  auto program = link();
  if (interruptedBy) raise(interruptedBy); // the temporary folder is gone by now
  return program;
}

OrError<Observation> BuiltProgram::run(const Facts& facts, const Options& options) const {
  return runAndCollect(path(), facts, options);
}

OrError<Observation> checkRun(const llvm::Module& device, const std::vector<std::string>& hostObjects,
                              const Facts& facts, const Options& options) {
  const auto program = BuiltProgram::build(device, hostObjects, facts, options);
  if (!program) return program.error();
  return program->run(facts, options);
}

} // namespace kcheck::instrument
