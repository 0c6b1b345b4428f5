// Notes on how the lanes of warps worked together, from the run's metrics: lanes that idle while others of
// their warp are somewhere (warp-divergence), and lanes whose atomics meet at one address
// (atomic-contention). Called by collect.cpp.
#pragma once

#include "instrument/instrument.h"
#include "instrument/wire.h"

#include <map>
#include <string>
#include <vector>

namespace kcheck::instrument {

class LaneNotes {
public:
  explicit LaneNotes(const Facts& facts) : facts(facts) {}
  /// One site of one kernel: its record, and the same as a metric.
  void add(const wire::Metric& record, const Metric& metric);
  void add(const wire::Launch& record, const std::string& kernel);
  void appendTo(std::vector<Finding>& findings) const;

private:
  struct Place {
    Metric metric;
    std::uint64_t lanes, slots, turns;
    std::uint64_t idle() const { return slots - lanes; }
  };
  bool diverges(const Place& place, std::uint64_t requestsOfKernel) const;
  Finding note(const Place& place) const;
  Finding divergence(const Place& place) const;
  Finding contention(const Place& place) const;

  const Facts& facts;
  std::map<std::string, std::vector<Place>> kernels;
  std::map<std::string, std::uint64_t> warps; ///< started, by kernel
};

} // namespace kcheck::instrument
