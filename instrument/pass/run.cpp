// Starts the instrumented program and collects what its runtime wrote into the log that both processes map.
#include "instrument/instrument.h"

#include "instrument/pass/collect.h"
#include "instrument/pass/process.h"
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
  return fmt::format("KCHECK_OPTIONS=schedule={},seed={},jobs={},twice={}", schedule, options.seed,
                     options.jobs, int(options.twice));
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

struct Outcome {
  Observation observation;
  int interruptedBy = 0;
};

OrError<Outcome> runAndCollect(const std::string& path, const Facts& facts, const Options& options) {
  ReportLog log;
  if (log.get() < 0) return Error{fmt::format("cannot make the run's report log: {}", std::strerror(errno))};
  ProcessOptions program;
  program.arguments = {path};
  program.arguments.insert(program.arguments.end(), options.programArguments.begin(),
                           options.programArguments.end());
  program.environment = {fmt::format("{}={}", wire::kDescriptorVariable, log.get()), runtimeOptions(options)};
  program.timeoutSeconds = options.timeoutSeconds;
  program.memoryLimitMb = options.memoryLimitMb;
  auto ended = runProcess(program);
  if (!ended) return ended.error();
  Outcome outcome;
  outcome.interruptedBy = ended->interruptedBy;
  outcome.observation = collect(log.get(), path, facts);
  std::uint64_t launched = outcome.observation.run.kernelsLaunched;
  std::vector<Launch> launches = std::move(outcome.observation.run.launches);
  outcome.observation.run = resultOf(*ended);
  outcome.observation.run.kernelsLaunched = launched;
  outcome.observation.run.launches = std::move(launches);
  std::erase_if(outcome.observation.findings, [&](const Finding& finding) {
    if (finding.rule != "unsupported") return false;
    outcome.observation.run.unsupported =
        fmt::format("{}:{}: {}", finding.where.file, finding.where.line, finding.message);
    return true;
  });
  if (ended->outOfMemory)
    outcome.observation.run.stoppedBecause =
        fmt::format("it used more than --memory-limit={} MB", options.memoryLimitMb);
  return outcome;
}

} // namespace

OrError<Observation> runProgram(const std::string& path, const Facts& facts, const Options& options) {
  auto outcome = runAndCollect(path, facts, options);
  if (!outcome) return outcome.error();
  if (outcome->interruptedBy) raise(outcome->interruptedBy);
  return std::move(outcome->observation);
}

OrError<Observation> checkRun(const llvm::Module& device, const std::vector<std::string>& hostObjects,
                              const Facts& facts, const Options& options) {
  std::vector<std::string> objects = hostObjects;
  std::vector<std::string> unsupported;
  auto object = instrumentDevice(device, facts, options, unsupported);
  if (!object) return object.error();
  objects.push_back(std::move(*object));
  int interruptedBy = 0;
  auto observe = [&]() -> OrError<Observation> {
    auto folder = TemporaryFolder::make();
    if (!folder) return folder.error();
    const std::string program = folder->path() + "/program";
    if (auto linked = linkProgram(objects, options, program); !linked) return linked.error();
    auto outcome = runAndCollect(program, facts, options);
    if (!outcome) return outcome.error();
    interruptedBy = outcome->interruptedBy;
    return std::move(outcome->observation);
  };
  auto observation = observe();
  if (interruptedBy) raise(interruptedBy); // the temporary folder is gone by now
  return observation;
}

} // namespace kcheck::instrument
