// The host compilation of one file: an x86-64 object for the run, and the facts that host code shows.
#pragma once

#include "frontend/clang_job.h"
#include "report/finding.h"

namespace kcheck::frontend {

struct HostSide {
  std::string object; ///< ELF; empty when only facts were asked for
  std::vector<Allocation> allocations;
  std::vector<Launch> launches;        ///< Launch::kernel as host code mangles it
  std::vector<Finding> findings;       ///< of the rules about host code
  std::set<std::string> hostVariables; ///< Facts::hostVariables
  std::vector<IgnoredCall> ignoredCalls;
  bool hasMain = false;
};

struct HostWishes {
  bool wantObject = true;
  bool wholeProgram = true; ///< the only file: nobody else calls its functions
};

/// False when the file has errors (in `log`).
bool compileHost(const CompileJobs& jobs, HostWishes wishes, DiagnosticLog& log, HostSide& result);

} // namespace kcheck::frontend
