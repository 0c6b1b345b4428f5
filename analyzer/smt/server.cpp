// Fork, sockets, and what keeps the processes from outliving kcheck.
#include "analyzer/smt/server.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kcheck::analyzer::smt {
namespace {

/// A message of one byte that carries a descriptor.
struct Parcel {
  char byte = 0;
  iovec content{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};

  Parcel() {
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
  }
};

bool sendDescriptor(int control, int descriptor) {
  Parcel parcel;
  cmsghdr* header = CMSG_FIRSTHDR(&parcel.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  ssize_t n;
  while ((n = sendmsg(control, &parcel.message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
  }
  return n == 1;
}

/// -1 when no more will come.
int receiveDescriptor(int control) {
  Parcel parcel;
  ssize_t n;
  while ((n = recvmsg(control, &parcel.message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  const cmsghdr* header = CMSG_FIRSTHDR(&parcel.message);
  if (n != 1 || !header || header->cmsg_type != SCM_RIGHTS) return -1;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

/// Z3 can take all memory of a machine.
void limitMemory() {
#if !defined(__SANITIZE_ADDRESS__) && !(defined(__has_feature) && __has_feature(address_sanitizer))
  constexpr rlim_t most = rlim_t(8) << 30;
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most)) {
    limit.rlim_cur = most;
    setrlimit(RLIMIT_AS, &limit);
  }
#endif
  struct rlimit noCore{0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
}

/// Nobody who reads kcheck's output waits for this process.
void leaveOutputAlone() {
  int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) return;
  dup2(nowhere, STDIN_FILENO);
  dup2(nowhere, STDOUT_FILENO);
}

} // namespace

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

bool writeAll(int descriptor, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = ::send(descriptor, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += std::size_t(n);
  }
  return true;
}

bool readAll(int descriptor, void* bytes, std::size_t count) {
  auto* at = static_cast<char*>(bytes);
  while (count) {
    ssize_t n = read(descriptor, at, count);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    count -= std::size_t(n);
  }
  return true;
}

Connection::~Connection() {
  if (descriptor >= 0) close(descriptor);
}

Connection::Connection(Connection&& other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)), late(other.late), buffer(std::move(other.buffer)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(descriptor, other.descriptor);
  std::swap(late, other.late);
  std::swap(buffer, other.buffer);
  return *this;
}

bool Connection::send(const std::string& bytes) { return writeAll(descriptor, bytes); }

std::optional<std::string> Connection::line(double deadline) {
  while (true) {
    if (std::size_t end = buffer.find('\n'); end != std::string::npos) {
      std::string result = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return result;
    }
    const double left = deadline - now();
    if (left <= 0) {
      late = true;
      return std::nullopt;
    }
    struct pollfd waits{descriptor, POLLIN, 0};
    int ready = poll(&waits, 1, int(std::min(left, 60.0) * 1000) + 1);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    char chunk[4096];
    ssize_t n = read(descriptor, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    buffer.append(chunk, std::size_t(n));
  }
}

Server::~Server() { stop(); }

/// A process for each descriptor that comes, until kcheck has ended.
void Server::serve(int descriptors) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_IGN); // nobody asks how they ended
  leaveOutputAlone();
  limitMemory();
  const pid_t self = getpid();
  for (int connection; (connection = receiveDescriptor(descriptors)) >= 0; close(connection)) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(0);
    close(descriptors);
    work(connection);
    _exit(0);
  }
  _exit(0);
}

void Server::stop() {
  if (control >= 0) close(control);
  control = -1;
  while (pid > 0 && waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid = -1;
}

bool Server::started() {
  if (control >= 0) return true;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  pid = fork();
  if (pid == 0) {
    close(ends[0]);
    serve(ends[1]);
  }
  close(ends[1]);
  control = ends[0];
  if (pid < 0) stop();
  return pid > 0;
}

void Server::start() {
  std::lock_guard lock(mutex);
  started();
}

std::optional<Connection> Server::connect() {
  std::lock_guard lock(mutex);
  // One that has been killed meanwhile is started anew.
  for (int attempt = 0; attempt < 2 && started(); ++attempt) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
    Connection connection(ends[0]);
    bool sent = sendDescriptor(control, ends[1]);
    close(ends[1]);
    if (sent) return connection;
    stop();
  }
  return std::nullopt;
}

} // namespace kcheck::analyzer::smt
