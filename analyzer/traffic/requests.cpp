#include "analyzer/traffic/requests.h"

#include "analyzer/traffic/cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kcheck::analyzer {

std::vector<Request> alignedOccurrences(const std::vector<Request>& requests, bool& mixesRounds) {
  std::vector<Request> aligned;
  std::array<std::size_t, LaneProgram::kLanes> used{};
  for (const Request& request : requests)
    for (unsigned lane = 0; lane < LaneProgram::kLanes; ++lane) {
      if (!(request.mask >> lane & 1)) continue;
      if (used[lane] == aligned.size()) aligned.emplace_back();
      Request& to = aligned[used[lane]++];
      to.mask |= 1U << lane;
      to.weight = request.weight;
      to.offsets[lane] = request.offsets[lane];
    }
  mixesRounds |= !std::ranges::equal(aligned, requests, [](const Request& a, const Request& b) {
    if (a.mask != b.mask) return false;
    for (unsigned lane = 0; lane < LaneProgram::kLanes; ++lane)
      if ((a.mask >> lane & 1) && a.offsets[lane] != b.offsets[lane]) return false;
    return true;
  });
  return aligned;
}

void RequestSums::add(const Request& request) {
  noteStride(request);
  addBytes(request);
  laneCount += request.weight * std::popcount(request.mask);
  addCost(request);
}

void RequestSums::addBytes(const Request& request) {
  for (unsigned lane = 0; lane < LaneProgram::kLanes; ++lane) {
    if (!(request.mask >> lane & 1)) continue;
    const std::int64_t offset = request.offsets[lane];
    result.lowest = started ? std::min(result.lowest, offset) : offset;
    result.beyond = started ? std::max(result.beyond, offset + bytes) : offset + bytes;
    started = true;
  }
}

void RequestSums::addCost(const Request& request) {
  LaneProgram::Row offsets = request.offsets;
  for (std::uint32_t left = bytes; left > 0;) { // copies of objects go in pieces
    const std::uint32_t piece = std::min<std::uint32_t>(left, 16);
    const RequestCost cost = space == MemorySpace::Shared ? costOfShared(offsets, request.mask, piece)
                                                          : costOfGlobal(offsets, request.mask, piece);
    sums[0] += request.weight;
    sums[1] += request.weight * double(cost.sectors);
    sums[2] += request.weight * double(cost.idealSectors);
    sums[3] += request.weight * double(cost.bytes);
    result.metric.bankWays = std::max(result.metric.bankWays, cost.bankWays);
    left -= piece;
    for (std::int64_t& offset : offsets) offset += piece;
  }
}

void RequestSums::noteStride(const Request& request) {
  if (strideIsMixed) return;
  for (unsigned lane = 0; lane + 1 < LaneProgram::kLanes; ++lane) {
    if ((request.mask >> lane & 3) != 3) continue;
    const std::int64_t apart = request.offsets[lane + 1] - request.offsets[lane];
    if (result.stride && *result.stride != apart) {
      strideIsMixed = true;
      result.stride.reset();
      return;
    }
    result.stride = apart;
  }
}

void RequestSums::settle() {
  Metric& metric = result.metric;
  metric.requests = std::uint64_t(std::llround(sums[0]));
  metric.sectors = std::uint64_t(std::llround(sums[1]));
  metric.idealSectors = std::uint64_t(std::llround(sums[2]));
  metric.bytesRequested = std::uint64_t(std::llround(sums[3]));
  result.lanes = std::uint64_t(std::llround(laneCount));
}

} // namespace kcheck::analyzer
