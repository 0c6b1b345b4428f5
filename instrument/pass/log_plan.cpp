#include "instrument/pass/log_plan.h"

#include "instrument/pass/launch_distances.h"
#include "instrument/pass/own_arrays.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstdlib>

namespace kcheck::instrument {

namespace {

constexpr std::int64_t kFarthest = 1 << 16; ///< distance of accesses that are compared with the arena at once
constexpr std::int64_t kFarthestLogged = 1 << 30; ///< from a logged address, without what the launch adds

std::uint32_t numberAt(const llvm::CallInst& hook, unsigned argument) {
  return std::uint32_t(llvm::cast<llvm::ConstantInt>(hook.getArgOperand(argument))->getZExtValue());
}

/// What is known of the access before it has a place.
abi::LoggedAccess describe(const DeviceCode& code, const llvm::CallInst& hook) {
  abi::LoggedAccess access{};
  access.kind = isCallTo(hook, Call::kcRead)    ? abi::SiteKind::Read
                : isCallTo(hook, Call::kcWrite) ? abi::SiteKind::Write
                                                : abi::SiteKind::Atomic;
  access.bytes = std::uint8_t(loggedBytes(hook));
  access.site = numberAt(hook, 3);
  if (access.kind == abi::SiteKind::Atomic) access.order = std::uint16_t(numberAt(hook, 4));
  if (access.kind == abi::SiteKind::Read && code.sites[access.site].flags & abi::SiteLoadNonCoherent)
    access.order = 1;
  return access;
}

class Planner {
public:
  Planner(const DeviceCode& code, LaunchDistances* distances, OwnArrays* arrays)
      : code(code), distances(distances), arrays(arrays) {}

  SegmentPlan take(const std::vector<llvm::CallInst*>& hooks) {
    for (llvm::CallInst* hook : hooks) {
      AddressSum address = addressSum(hook->getArgOperand(1), code.module.getDataLayout());
      std::size_t number = placeOf(address);
      LoggedPlace& place = plan.places[number];
      std::int64_t distance = address.constant - place.address.constant;
      place.lowest = std::min(place.lowest, distance);
      place.highest = std::max(place.highest, distance);
      place.accesses.push_back(hook);
      abi::LoggedAccess access = describe(code, *hook);
      if (arrays) access.array = arrays->numberOf(hook->getArgOperand(1));
      access.row = place.row;
      access.distance = place.distance;
      access.offset = std::int32_t(address.constant - place.origin);
      if (access.kind != abi::SiteKind::Read) {
        access.content = std::uint16_t(plan.rows);
        plan.rows += access.bytes == 16 ? 2 : 1;
      }
      plan.accesses.push_back({hook, number, access});
    }
    return std::move(plan);
  }

private:
  const DeviceCode& code;
  LaunchDistances* distances;
  OwnArrays* arrays;
  SegmentPlan plan;

  std::size_t placeOf(const AddressSum& address) {
    for (std::size_t i = 0; i < plan.places.size(); ++i) {
      const LoggedPlace& place = plan.places[i];
      if (place.address.terms == address.terms &&
          std::abs(address.constant - place.address.constant) <= kFarthest)
        return i;
    }
    LoggedPlace fresh;
    fresh.address = address;
    if (!isAway(fresh)) {
      fresh.row = std::uint16_t(plan.rows++);
      fresh.origin = address.constant;
    }
    plan.places.push_back(std::move(fresh));
    return plan.places.size() - 1;
  }

  /// Whether it is at a distance that the launch fixes from an address that is logged.
  bool isAway(LoggedPlace& place) {
    if (!distances) return false;
    for (const LoggedPlace& logged : plan.places) {
      if (logged.distance || std::abs(place.address.constant - logged.origin) > kFarthestLogged) continue;
      AddressSum away = place.address;
      away.add(logged.address, ~std::uint64_t{0});
      if (away.terms.empty()) continue;
      std::optional<std::uint16_t> number = distances->numberOf(away);
      if (!number) continue;
      place.row = logged.row;
      place.origin = logged.origin;
      place.distance = *number;
      return true;
    }
    return false;
  }
};

} // namespace

unsigned loggedBytes(const llvm::CallInst& hook) {
  auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(hook.getArgOperand(2));
  if (!bytes) return 0;
  constexpr std::uint32_t kSystem = 3; // may meet the host's, which is told at once
  if (isCallTo(hook, Call::kcAtomic) && (numberAt(hook, 4) >> 4 & 3) == kSystem) return 0;
  std::uint64_t size = bytes->getZExtValue();
  return size == 1 || size == 2 || size == 4 || size == 8 || size == 16 ? unsigned(size) : 0;
}

SegmentPlan planSegment(const DeviceCode& code, const std::vector<llvm::CallInst*>& hooks,
                        LaunchDistances* distances, OwnArrays* arrays) {
  return Planner(code, distances, arrays).take(hooks);
}

} // namespace kcheck::instrument
