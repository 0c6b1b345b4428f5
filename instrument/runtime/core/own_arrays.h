// The arrays that accesses belong in. Device code says which of the kernel's pointers it counts an address
// from; what leaves that pointer's array has left it, also where it lands in another one.
#pragma once

#include "instrument/runtime/core/access.h"

namespace kcheck::runtime {

/// By abi::LoggedAccess::array, for the launch's arguments. Only pointers to the start of a live allocation
/// have one: others may be counted back into theirs, and lie in another one on their way.
void findOwnArrays(LaunchState& launch);

/// Whether the access leaves the array of that number. Not where the host has passed the distance to the
/// other array, as it may when it keeps two of them as one.
bool leavesOwnArray(LaunchState& launch, std::uint32_t array, Address address, std::size_t bytes);

} // namespace kcheck::runtime
