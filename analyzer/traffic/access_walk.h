// Goes through a launch for one access of the model, warp by warp; of a large launch it takes samples.
#pragma once

#include "analyzer/traffic/axis.h"
#include "analyzer/traffic/requests.h"

#include <string>
#include <vector>

namespace kcheck::analyzer {

class Ranges;

class AccessWalk {
public:
  AccessWalk(const KernelModel& model, const ModelAccess& access, MemorySpace space, std::uint32_t bytes);

  /// Empty, or why the traffic is not known. Takes what it needs from `work`: evaluations of single
  /// operations.
  std::string prepare(std::uint64_t& work);
  AccessTraffic walk();

private:
  bool holdsIn(const Dim3& block, std::uint64_t arrayBytes);
  void lookFurther();
  void orderCounters();
  std::string addCounters(Ranges& ranges);
  Expr nodeOf(const Symbol* symbol) const;
  bool chooseSamples();
  bool walkWarp(unsigned warp, double weight);
  Request requestAt(const std::vector<std::uint64_t>& position, double weight);
  void countAll();

  const KernelModel& model;
  LaneProgram lanes;
  std::uint32_t bytes;
  AccessTraffic result;
  RequestSums sums;
  Axis blocks[3];
  std::vector<Axis> counters;
  std::vector<std::int64_t> values; ///< of the counters, in the current request
  std::vector<Request> requests;
  std::uint64_t warps = 1, mostRequests = 0, cost = 0;
  std::size_t ownCounters = 0;
  bool isNever = false;
};

} // namespace kcheck::analyzer
