// Memory that a stream allocates (cudaMallocAsync): what other streams do with it has to come after that.
#pragma once

#include "instrument/runtime/core/memory.h"
#include "instrument/runtime/core/shadow.h"
#include "instrument/wire.h"

namespace kcheck::runtime {

struct LaunchState;

/// The current operation does, or the memory is of no stream.
bool comesAfterItsAllocation(const Allocation& array);
/// `kernel`: its name where the use is a kernel's.
void reportBeforeAllocation(Address at, const wire::Access& use, const char* kernel);
/// At the end of a launch: whether it has used an array among its arguments that another stream need not have
/// allocated yet.
void checkArraysAllocated(LaunchState& launch);

} // namespace kcheck::runtime
