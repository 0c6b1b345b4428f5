#include "instrument/pass/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <poll.h>
#include <set>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace kcheck::instrument {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kMemoryPollMs = 20;

sigset_t watchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGTTOU}) sigaddset(&set, signal);
  return set;
}

/// Signals arrive through a descriptor while this lives, so that no handler needs global state.
class SignalWatch {
public:
  SignalWatch() {
    sigset_t set = watchedSignals();
    sigprocmask(SIG_BLOCK, &set, &before);
    sigdelset(&set, SIGTTOU);
    descriptor = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~SignalWatch() {
    close(descriptor);
    sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Waits up to `ms` (-1: for ever); the signal that came, 0 when none did.
  int next(int ms) const {
    pollfd poll{descriptor, POLLIN, 0};
    if (::poll(&poll, 1, ms) <= 0) return 0;
    signalfd_siginfo info;
    return read(descriptor, &info, sizeof info) == sizeof info ? int(info.ssi_signo) : 0;
  }
  const sigset_t& original() const { return before; }

private:
  sigset_t before;
  int descriptor;
};

std::set<pid_t> childrenOfThisProcess() {
  std::set<pid_t> children;
  std::ifstream stream(fmt::format("/proc/self/task/{}/children", getpid()));
  for (pid_t pid; stream >> pid;) children.insert(pid);
  return children;
}

std::uint64_t residentMb(pid_t pid) {
  std::ifstream stream(fmt::format("/proc/{}/statm", pid));
  std::uint64_t size = 0, resident = 0;
  stream >> size >> resident;
  return resident * std::uint64_t(sysconf(_SC_PAGESIZE)) >> 20;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environmentWith(const std::vector<std::string>& extra) {
  std::vector<std::string> all = extra;
  auto nameOf = [](const std::string& text) { return text.substr(0, text.find('=')); };
  for (char** entry = environ; *entry; ++entry)
    if (std::none_of(extra.begin(), extra.end(),
                     [&](const std::string& own) { return nameOf(own) == nameOf(*entry); }))
      all.push_back(*entry);
  return all;
}

/// Gives the terminal to the child while it runs, as a shell does; else its first read would stop it.
class Terminal {
public:
  explicit Terminal(pid_t child) : given(isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp()) {
    if (given) tcsetpgrp(STDIN_FILENO, child);
  }
  ~Terminal() {
    if (given) tcsetpgrp(STDIN_FILENO, getpgrp());
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  bool isGiven() const { return given; }

private:
  bool given;
};

[[noreturn]] void becomeProgram(const ProcessOptions& options, std::vector<char*>& arguments,
                                std::vector<char*>& environment, const sigset_t& mask, int failure) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (options.isMute)
    if (const int nothing = open("/dev/null", O_RDWR); nothing >= 0)
      for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, stream);
  if (options.errorFile >= 0) dup2(options.errorFile, STDERR_FILENO);
  execve(arguments[0], arguments.data(), environment.data());
  int reason = errno;
  if (write(failure, &reason, sizeof reason) < 0) _exit(126);
  _exit(127);
}

/// Everything that descends from the child: its group, and orphans, which a subreaper adopts.
void killDescendants(pid_t group, const std::set<pid_t>& ownBefore) {
  kill(-group, SIGKILL);
  for (int round = 0; round < 100; ++round) {
    std::set<pid_t> left = childrenOfThisProcess();
    std::erase_if(left, [&](pid_t pid) { return ownBefore.contains(pid); });
    if (left.empty()) return;
    for (pid_t pid : left) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
}

void supervise(pid_t child, const ProcessOptions& options, const SignalWatch& signals,
               ProcessResult& result) {
  const auto start = Clock::now();
  auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  for (int status = 0;;) {
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) {
      result.seconds = elapsed();
      if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
      if (WIFEXITED(status)) result.exitStatus = WEXITSTATUS(status);
      return;
    }
    int wait = -1;
    if (options.timeoutSeconds > 0) wait = std::max(1, int((options.timeoutSeconds - elapsed()) * 1000) + 1);
    if (options.memoryLimitMb && (wait < 0 || wait > kMemoryPollMs)) wait = kMemoryPollMs;
    if (options.everyMs && (wait < 0 || wait > options.everyMs)) wait = options.everyMs;
    int signal = signals.next(wait);
    if (options.everyMs && !signal) options.meanwhile();
    if (signal && signal != SIGCHLD) result.interruptedBy = signal;
    if (options.timeoutSeconds > 0 && elapsed() >= options.timeoutSeconds) result.timedOut = true;
    if (options.memoryLimitMb && residentMb(child) > options.memoryLimitMb) result.outOfMemory = true;
    if (result.interruptedBy || result.timedOut || result.outOfMemory) kill(-child, SIGKILL);
  }
}

} // namespace

OrError<ProcessResult> runProcess(const ProcessOptions& options) {
  std::vector<std::string> argumentTexts = options.arguments,
                           environmentTexts = environmentWith(options.environment);
  std::vector<char*> arguments = pointers(argumentTexts), environment = pointers(environmentTexts);
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0)
    return Error{fmt::format("cannot make a pipe: {}", std::strerror(errno))};
  const std::set<pid_t> ownBefore = childrenOfThisProcess();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  SignalWatch signals;
  pid_t child = fork();
  if (child == 0) becomeProgram(options, arguments, environment, signals.original(), failure[1]);
  int reason = errno;
  close(failure[1]);
  if (child < 0) {
    close(failure[0]);
    return Error{fmt::format("cannot start {}: {}", options.arguments[0], std::strerror(reason))};
  }
  setpgid(child, child); // also here: the child may not have got that far
  ProcessResult result;
  {
    Terminal terminal(child);
    bool failed = read(failure[0], &reason, sizeof reason) == sizeof reason;
    close(failure[0]);
    if (failed) {
      waitpid(child, nullptr, 0);
      return Error{fmt::format("cannot start {}: {}", options.arguments[0], std::strerror(reason))};
    }
    supervise(child, options, signals, result);
    if (terminal.isGiven() && result.signal == SIGINT) result.interruptedBy = SIGINT; // the user's Ctrl-C
  }
  killDescendants(child, ownBefore);
  return result;
}

} // namespace kcheck::instrument
