// What a segment of accesses writes into the log: which of them share a logged address, and where the rows
// lie.
#pragma once

#include "instrument/pass/address_sum.h"
#include "instrument/pass/device_code.h"

namespace kcheck::instrument {

class LaunchDistances;
class OwnArrays;

/// Accesses at constant distances from the first of them. Its address is logged, or follows from one that is,
/// because all threads of a launch find the two equally far apart.
struct LoggedPlace {
  AddressSum address;                    ///< of the first access
  std::int64_t lowest = 0, highest = 0;  ///< distances
  std::vector<llvm::CallInst*> accesses; ///< in their order
  std::uint16_t row = 0;                 ///< of the segment, holds the logged address
  std::int64_t origin = 0;               ///< constant of the logged address
  std::uint16_t distance = 0;            ///< abi::LoggedAccess::distance of all; 0: the row holds the first
  llvm::Value* foreign = nullptr;        ///< whether any of the accesses may be outside device memory
};

struct PlannedAccess {
  llvm::CallInst* hook;
  std::size_t place; ///< in SegmentPlan::places
  abi::LoggedAccess access;
};

struct SegmentPlan {
  std::vector<LoggedPlace> places;
  std::vector<PlannedAccess> accesses;
  std::uint32_t rows = 0;
};

/// The size of an access that can be logged, else 0: copies of variable or unusual length call the runtime.
unsigned loggedBytes(const llvm::CallInst& hook);

/// Of accesses that always happen one after the other. `distances` and `arrays`: of the kernel whose entry
/// they are in, else null.
SegmentPlan planSegment(const DeviceCode& code, const std::vector<llvm::CallInst*>& hooks,
                        LaunchDistances* distances, OwnArrays* arrays);

} // namespace kcheck::instrument
