// How far a long run is, on a terminal: the kernel, its blocks, the findings so far. Where there is no
// terminal, nothing is written at all.
#pragma once

#include "instrument/wire.h"

#include <chrono>
#include <functional>
#include <string>

namespace kcheck::instrument {

class Progress {
public:
  static constexpr int kEveryMs = 250;

  static constexpr std::chrono::milliseconds kStill{5000}; ///< without a block that is done

  /// `log`: descriptor of the file that the run's log is written to (wire.h); `terminal`: where to show it.
  /// Nothing appears before `quiet` has passed, so that short runs leave the terminal alone.
  Progress(int log, int terminal, std::chrono::milliseconds quiet = std::chrono::milliseconds(1000));
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool isShown() const { return log != nullptr; } ///< `terminal` is one
  void show();
  void erase();
  /// The line of a site, 0 when it has none; from then on the place is shown where no block comes to its end
  /// for `still`.
  void tellPlaces(std::function<unsigned(std::uint32_t)> lineOf, std::chrono::milliseconds still = kStill);

private:
  std::string line(); ///< empty while no kernel runs
  std::string placeWhereStill(const wire::Header& header);
  std::string kernelName(wire::TextRef reference) const;
  void draw(const std::string& text) const;

  int terminal;
  const std::byte* log = nullptr;
  bool drawn = false;
  std::chrono::steady_clock::time_point start;
  std::chrono::milliseconds quiet, still = kStill;
  std::function<unsigned(std::uint32_t)> lineOf;
  std::uint64_t doneBefore = 0;
  std::uint32_t kernelBefore = 0;
  std::chrono::steady_clock::time_point moved;
};

} // namespace kcheck::instrument
