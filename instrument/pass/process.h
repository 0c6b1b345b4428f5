// A child process that leaves nothing behind: own process group, killed on timeout or when kcheck itself is
// told to stop, orphans included.
#pragma once

#include "report/error.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kcheck::instrument {

struct ProcessOptions {
  std::vector<std::string> arguments;   ///< the program's path first
  std::vector<std::string> environment; ///< NAME=VALUE, on top of kcheck's own
  int errorFile = -1;                   ///< stderr goes there; -1: inherited
  bool isMute = false;                  ///< it reads nothing, and what it prints is lost
  double timeoutSeconds = 0;            ///< 0: none
  std::uint64_t memoryLimitMb = 0;      ///< resident memory of the process; 0: none
  std::function<void()> meanwhile;      ///< called every `everyMs` while the program runs
  int everyMs = 0;                      ///< 0: never
};

struct ProcessResult {
  int exitStatus = 0;
  int signal = 0; ///< that ended the child
  bool timedOut = false, outOfMemory = false;
  int interruptedBy = 0; ///< signal that kcheck received meanwhile; the caller cleans up and raises it
  double seconds = 0;
};

OrError<ProcessResult> runProcess(const ProcessOptions& options);

} // namespace kcheck::instrument
