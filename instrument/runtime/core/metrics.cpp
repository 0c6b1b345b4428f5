#include "instrument/runtime/core/metrics.h"

#include "instrument/runtime/core/context.h"
#include "instrument/runtime/core/events.h"
#include "instrument/runtime/core/log.h"
#include "instrument/runtime/core/rows.h"

#include <algorithm>
#include <bit>
#include <map>

namespace kcheck::runtime {
namespace {

/// How often a request of this weight counts: what a whole number leaves is owed to the next one.
std::uint64_t timesOf(SiteTraffic& sums, double weight) {
  if (weight == 1) return 1;
  sums.owed += weight;
  auto times = static_cast<std::uint64_t>(sums.owed);
  sums.owed -= double(times);
  return times;
}

/// The lowest address, whoever has met it first.
void keepExample(Address& example, Address other) {
  if (!example || other < example) example = other;
}

wire::Doing doingAt(std::uint32_t site) {
  const abi::SiteInfo* info = context().site(site);
  if (!info) return wire::Doing::Read;
  return info->kind == abi::SiteKind::Write    ? wire::Doing::Write
         : info->kind == abi::SiteKind::Atomic ? wire::Doing::Atomic
                                               : wire::Doing::Read;
}

MemorySpace spaceOf(Address address, bool shared) {
  if (shared) return MemorySpace::Shared;
  const Allocation* allocation = find(reinterpret_cast<void*>(address));
  return allocation && allocation->kind == MemoryKind::Constant ? MemorySpace::Constant : MemorySpace::Global;
}

wire::Metric* recordOf(const LaunchState& launch, std::uint32_t site, MemorySpace space) {
  static auto* records =
      new std::map<std::tuple<const KernelEntry*, std::uint32_t, MemorySpace>, wire::Metric*>;
  wire::Metric*& record = (*records)[{launch.kernel, site, space}];
  if (record) return record;
  describeSite(site);
  record = log().reserve<wire::Metric>();
  if (!record) return nullptr;
  record->kernel = launch.name;
  record->site = site;
  record->access = static_cast<std::uint8_t>(doingAt(site));
  record->space = static_cast<std::uint8_t>(space);
  Log::complete(record->head, wire::RecordKind::Metric);
  return record;
}

} // namespace

void addTraffic(SiteTraffics& traffic, std::uint32_t slots, std::uint32_t site, Address example,
                const RequestCost& cost, std::uint32_t turns, std::uint32_t lanes, std::uint32_t bytes,
                double weight, std::uint32_t repeated) {
  bool shared = inShared(example);
  if (traffic.size() <= site) traffic.resize(site + 1);
  SiteTraffic& sums = traffic[site];
  keepExample(sums.example[shared], example);
  Traffic& sum = sums.sum[shared];
  std::uint64_t times = repeated * timesOf(sums, weight);
  sum.requests += times;
  sum.sectors += times * cost.sectors;
  sum.idealSectors += times * cost.idealSectors;
  sum.bytes += times * lanes * bytes;
  sum.lanes += times * lanes;
  sum.slots += times * slots;
  sum.turns += times * turns;
  sum.bankWays = std::max(sum.bankWays, cost.bankWays);
}

void moveTraffic(SiteTraffics& from, SiteTraffics& to) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t site = 0; site < from.size(); ++site)
    for (bool shared : {false, true}) {
      const Traffic& more = from[site].sum[shared];
      if (!more.requests) continue;
      keepExample(to[site].example[shared], from[site].example[shared]);
      Traffic& sum = to[site].sum[shared];
      sum.requests += more.requests;
      sum.sectors += more.sectors;
      sum.idealSectors += more.idealSectors;
      sum.bytes += more.bytes;
      sum.lanes += more.lanes;
      sum.slots += more.slots;
      sum.turns += more.turns;
      sum.bankWays = std::max(sum.bankWays, more.bankWays);
    }
  from.clear();
}

std::uint32_t slotsOf(const LaunchState& launch) { return std::min(kWarpSize, launch.blockThreads); }

void addUpWarp(LaunchState& launch) {
  if (launch.accesses->empty()) return;
  RowLanes lanes(0);
  launch.accesses->drain([&](std::uint32_t site, std::uint32_t mask, const Address* addresses,
                             std::uint32_t bytes, double weight) {
    if (lanes.mask != mask) lanes = RowLanes(mask);
    alignas(64) Address at[kWarpSize];
    for (std::uint32_t i = 0; i < kWarpSize; ++i) at[i] = addresses[lanes.lane[i]];
    bool shared = inShared(at[0]);
    RowClass shape;
    classify(shape, at, lanes, bytes);
    RequestCost cost = std::has_single_bit(bytes) ? costOfRow(at, lanes, bytes, shared, shape)
                       : shared                   ? costOfShared(addresses, mask, bytes)
                                                  : costOfGlobal(addresses, mask, bytes);
    std::uint32_t turns = doingAt(site) == wire::Doing::Atomic ? turnsOf(addresses, mask) : 0;
    addTraffic(launch.traffic, slotsOf(launch), site, at[0], cost, turns, lanes.count, bytes, weight);
  });
}

void flushMetrics(LaunchState& launch) {
  finishRows(launch);
  if (launch.accesses) addUpWarp(launch); // of a launch that ended in the middle
  for (std::uint32_t site = 0; site < launch.traffic.size(); ++site)
    for (bool shared : {false, true}) {
      Traffic& sum = launch.traffic[site].sum[shared];
      if (!sum.requests) continue;
      wire::Metric* record = recordOf(launch, site, spaceOf(launch.traffic[site].example[shared], shared));
      if (!record) return;
      record->requests += sum.requests;
      record->sectors += sum.sectors;
      record->idealSectors += sum.idealSectors;
      record->bytesRequested += sum.bytes;
      record->lanes += sum.lanes;
      record->slots += sum.slots;
      record->turns += sum.turns;
      record->bankWays = std::max(record->bankWays, sum.bankWays);
    }
  launch.traffic.clear();
}

} // namespace kcheck::runtime
