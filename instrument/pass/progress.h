// How far a long run is, on a terminal: the kernel, its blocks, the findings so far. Where there is no
// terminal, nothing is written at all.
#pragma once

#include "instrument/wire.h"

#include <chrono>
#include <string>

namespace kcheck::instrument {

class Progress {
public:
  static constexpr int kEveryMs = 250;

  /// `log`: descriptor of the file that the run's log is written to (wire.h); `terminal`: where to show it.
  /// Nothing appears before `quiet` has passed, so that short runs leave the terminal alone.
  Progress(int log, int terminal, std::chrono::milliseconds quiet = std::chrono::milliseconds(1000));
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool isShown() const { return log != nullptr; } ///< `terminal` is one
  void show();
  void erase();

private:
  std::string line() const; ///< empty while no kernel runs
  std::string kernelName(wire::TextRef reference) const;
  void draw(const std::string& text) const;

  int terminal;
  const std::byte* log = nullptr;
  bool drawn = false;
  std::chrono::steady_clock::time_point start;
  std::chrono::milliseconds quiet;
};

} // namespace kcheck::instrument
