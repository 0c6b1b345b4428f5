// Requests of warps, and what all of one access come to.
#pragma once

#include "analyzer/traffic/lanes.h"
#include "analyzer/traffic/traffic.h"

#include <vector>

namespace kcheck::analyzer {

/// One warp's request: who takes part, and where.
struct Request {
  std::uint32_t mask = 0;
  LaneProgram::Row offsets;
  double weight = 1;
};

/// Lanes that went different ways: the n-th accesses of all lanes are one request. Where that mixes rounds,
/// lanes that meet again in each round give other figures, and it is not known which come about.
std::vector<Request> alignedOccurrences(const std::vector<Request>& requests, bool& mixesRounds);

/// Adds up requests of `bytes` per lane in the figures of an access.
class RequestSums {
public:
  RequestSums(AccessTraffic& result, MemorySpace space, std::uint32_t bytes)
      : result(result), space(space), bytes(bytes) {}
  void add(const Request& request);
  void settle(); ///< when all are in

private:
  void addBytes(const Request& request);
  void addCost(const Request& request);
  void noteStride(const Request& request);

  AccessTraffic& result;
  MemorySpace space;
  std::uint32_t bytes;
  double sums[4] = {}, laneCount = 0;
  bool started = false, strideIsMixed = false;
};

} // namespace kcheck::analyzer
