// The records of a log, checked so far that nothing in them leads outside it.
#pragma once

#include "instrument/wire.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kcheck::instrument {

struct WireReader {
  explicit WireReader(std::span<const std::byte> log);

  std::string text(wire::TextRef reference) const;
  /// Where an address of the program's code comes from; the path is empty when no image holds it.
  struct Place {
    std::string path;
    std::uint64_t offset = 0;
  };
  Place place(std::uint64_t address) const;
  const wire::Site* site(std::uint32_t number) const;

  std::vector<const wire::Finding*> findings;
  std::vector<const wire::Metric*> metrics;
  std::vector<const wire::Launch*> launches;
  std::vector<const wire::Arguments*> arguments; ///< with what stands behind them, all in the log
  std::vector<const wire::CutShort*> cutShort;
  std::uint64_t kernelsLaunched = 0;
  std::uint32_t sharedLaunches = 0;
  std::string runningKernel;                 ///< when the log ended; empty: none
  std::uint32_t runningSite = wire::kNoSite; ///< where it had been shortly before
  bool truncated = false;

private:
  void take(const wire::Record& record);
  std::span<const std::byte> log;
  std::map<std::uint32_t, const wire::Site*> sites;
  std::vector<const wire::Image*> images;
};

} // namespace kcheck::instrument
