// Fork, pipe, poll, kill.
#include "analyzer/smt/child.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kcheck::analyzer::smt {

namespace {
/// Z3 can take all memory of a machine; the child may take this much more than the parent has.
constexpr rlim_t kMemory = rlim_t(4) << 30;

void prepareChild(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
#if !defined(__SANITIZE_ADDRESS__) && !(defined(__has_feature) && __has_feature(address_sanitizer))
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 &&
      (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > 2 * kMemory)) {
    limit.rlim_cur = 2 * kMemory;
    setrlimit(RLIMIT_AS, &limit);
  }
#endif
  struct rlimit noCore{0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
}
} // namespace

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

void writeAll(int descriptor, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    ssize_t n = write(descriptor, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    done += std::size_t(n);
  }
}

Child::Child(const std::function<void(int)>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  pid_t parent = getpid();
  pid = fork();
  if (pid == 0) {
    close(ends[0]);
    std::signal(SIGPIPE, SIG_IGN);
    prepareChild(parent);
    work(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return;
  }
  input = ends[0];
}

Child::~Child() {
  if (input >= 0) close(input);
  if (pid <= 0) return;
  kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

double Child::processorSeconds() {
  clockid_t clock{};
  struct timespec time{};
  if (pid > 0 && clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &time) == 0)
    lastSeconds = std::max(lastSeconds, double(time.tv_sec) + double(time.tv_nsec) * 1e-9);
  return lastSeconds;
}

std::optional<std::string> Child::line(double deadline) {
  constexpr double kSlice = 0.02; // between two looks at the child's clock
  while (true) {
    std::size_t end = buffer.find('\n');
    if (end != std::string::npos) {
      std::string result = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return result;
    }
    if (ended || input < 0) return std::nullopt;
    double left = deadline - now();
    if (left <= 0 || processorSeconds() > mostSeconds) {
      late = true;
      return std::nullopt;
    }
    struct pollfd descriptor{input, POLLIN, 0};
    int ready = poll(&descriptor, 1, int(std::min(left, kSlice) * 1000) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) continue;
    char chunk[4096];
    ssize_t n = read(input, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      ended = true;
    else
      buffer.append(chunk, std::size_t(n));
  }
}

} // namespace kcheck::analyzer::smt
