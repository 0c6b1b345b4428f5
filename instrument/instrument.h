// The run, from outside: instrument the device module, link it with the host objects, start the program in a
// child process, read back what its runtime saw.
#pragma once

#include "report/error.h"
#include "report/report.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class Module;
}

namespace kcheck::instrument {

enum class Schedule : std::uint8_t { Fair, Lockstep, Random };

struct Options {
  std::vector<std::string> programArguments;
  std::vector<std::string> linkArguments; ///< -l -L, as given
  std::set<SiteId> skip;                  ///< sites that the static pass has proved
  Schedule schedule = Schedule::Fair;
  std::uint64_t seed = 0;
  unsigned jobs = 1;
  bool eager = false;        ///< several threads share even the smallest launch
  double timeoutSeconds = 0; ///< 0: none
  std::uint64_t memoryLimitMb = 0;
  bool deferred = true; ///< false: every access is checked, and at once
  bool twice = true;    ///< run launches that locks and flags order in the opposite order as well
  bool checks = true;   ///< false: the same code without any, for benchmarks
  /// Symbols of the kernels that are started, where the run is kcheck's own doing: the program's prints are
  /// lost, and nobody watches it run.
  std::set<std::string> replayed;
};

struct Observation {
  std::vector<Finding> findings;
  std::vector<Metric> metrics;
  RunResult run;
  unsigned sharedLaunches = 0; ///< that several threads have run together
  /// Of a program that did not come to its end: the kernel that ran when its log ended, and one of the last
  /// places where it was, as far as they are known.
  struct {
    std::string kernel;
    Location place;
  } ranLast;
};

/// Host code (x86-64 object) with checks, made from a copy of `device`.
OrError<std::string> instrumentDevice(const llvm::Module& device, const Facts& facts, const Options& options);
/// The same; `unsupported` receives "FILE:LINE: FEATURE" for each thing in device code that kcheck cannot
/// run. The run itself only fails when it gets there.
OrError<std::string> instrumentDevice(const llvm::Module& device, const Facts& facts, const Options& options,
                                      std::vector<std::string>& unsupported);

/// Whether one of the libraries to be linked brings the program's main: `-lgtest_main`.
bool librariesHaveMain(const Options& options);

/// Links objects (their contents) with the runtime into an executable at `path`. A signal that kcheck got
/// meanwhile is stored in `interruptedBy`, where the caller has to clean up first, and else raised.
OrError<std::monostate> linkProgram(const std::vector<std::string>& objects, const Options& options,
                                    const std::string& path, int* interruptedBy = nullptr);

/// Runs the program at `path`. Its stdin, stdout and stderr are its own.
OrError<Observation> runProgram(const std::string& path, const Facts& facts, const Options& options);

class TemporaryFolder;

/// A program that is built once, in a temporary folder that goes with it, and started as often as one likes.
class BuiltProgram {
public:
  static OrError<BuiltProgram> build(const llvm::Module& device, const std::vector<std::string>& hostObjects,
                                     const Facts& facts, const Options& options);
  OrError<Observation> run(const Facts& facts, const Options& options) const;

private:
  explicit BuiltProgram(std::shared_ptr<const TemporaryFolder> folder) : folder(std::move(folder)) {}
  std::string path() const;
  std::shared_ptr<const TemporaryFolder> folder;
};

/// Builds and runs it.
OrError<Observation> checkRun(const llvm::Module& device, const std::vector<std::string>& hostObjects,
                              const Facts& facts, const Options& options);

} // namespace kcheck::instrument
