// POSIX processes for the tests. The child leads a process group of its own, so that a kill reaches the
// checked program as well.
#include "child.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kcheck::expectations {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void becomeProgram(const std::vector<std::string>& command, int output) {
  setpgid(0, 0);
  int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  dprintf(STDERR_FILENO, "cannot start %s\n", arguments[0]);
  _exit(127);
}

/// Reads until the end of the output or the deadline; false at the deadline.
bool readAll(int from, Clock::time_point deadline, std::string& text) {
  char buffer[65536];
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{from, POLLIN, 0};
    if (poll(&wait, 1, int(left)) <= 0) continue;
    ssize_t bytes = read(from, buffer, sizeof buffer);
    if (bytes <= 0) return true;
    text.append(buffer, std::size_t(bytes));
  }
}

} // namespace

ChildResult runChild(const std::vector<std::string>& command, double seconds) {
  ChildResult result;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return result;
  auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  pid_t child = fork();
  if (child == 0) becomeProgram(command, ends[1]);
  close(ends[1]);
  setpgid(child, child); // whoever of the two comes first
  result.timedOut = !readAll(ends[0], deadline, result.output);
  close(ends[0]);
  if (result.timedOut) kill(-child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  kill(-child, SIGKILL); // nothing that it started stays behind
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

} // namespace kcheck::expectations
