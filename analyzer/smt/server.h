// The process that Z3 runs in. It is forked while kcheck is small, and forks itself for each query: so a
// query costs no copy of what the compiler has in memory, starts from the same state as any other, and can be
// given up without a trace.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include <sys/types.h>

namespace kcheck::analyzer::smt {

/// One end of a connection to a process that works on queries; that ends when this does.
class Connection {
public:
  explicit Connection(int descriptor) : descriptor(descriptor) {}
  ~Connection();
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  Connection(const Connection&) = delete;

  bool send(const std::string& bytes);
  /// The next line without its end; nothing at the end of output, or at the deadline.
  std::optional<std::string> line(double deadline);
  bool timedOut() const { return late; } ///< so the last line() was

private:
  int descriptor;
  bool late = false;
  std::string buffer;
};

class Server {
public:
  /// `work` runs in a process of its own for each connection, with a descriptor to read from and to write to.
  /// That process ends without running any destructor or exit handler of the program.
  explicit Server(void (*work)(int)) : work(work) {}
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Starts it, if it does not run. Needs not be called, but processes that are small are copied fast.
  void start();
  /// Nothing when no process can be had.
  std::optional<Connection> connect();

private:
  bool started();
  void stop();

  [[noreturn]] void serve(int descriptors);

  void (*const work)(int);
  std::mutex mutex;
  pid_t pid = -1;
  int control = -1; ///< takes descriptors
};

/// Seconds on a clock that only goes forward.
double now();
/// Writes all of `bytes`, whatever signals arrive. False: nobody reads them.
bool writeAll(int descriptor, const std::string& bytes);
/// Reads as many bytes. False: there are not as many.
bool readAll(int descriptor, void* bytes, std::size_t count);

} // namespace kcheck::analyzer::smt
