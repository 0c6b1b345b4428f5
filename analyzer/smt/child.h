// A forked child that writes lines to its parent and is killed at a deadline.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>

namespace kcheck::analyzer::smt {

class Child {
public:
  /// Forks; `work` runs in the child with a descriptor to write to, and the child ends without running any
  /// destructor or exit handler of the parent's program.
  explicit Child(const std::function<void(int)>& work);
  /// Kills the child if it still runs, and reaps it.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool started() const { return pid > 0; }
  /// Processor time from which on the child counts as late.
  void limitProcessor(double seconds) { mostSeconds = seconds; }
  /// Processor time that the child has used so far, as far as it was looked at.
  double processorSeconds();
  /// The next line without its end; nothing at the end of output, at the deadline, or past the limit.
  std::optional<std::string> line(double deadline);
  bool timedOut() const { return late; }

private:
  pid_t pid = -1;
  int input = -1;
  bool late = false, ended = false;
  double mostSeconds = 1e9, lastSeconds = 0;
  std::string buffer;
};

/// Seconds on a clock that only goes forward.
double now();
/// Writes all of `text`, whatever signals arrive.
void writeAll(int descriptor, const std::string& text);

} // namespace kcheck::analyzer::smt
