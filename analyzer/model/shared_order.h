// Which writes to shared memory come before which reads of it: for the question whether what is read there
// has been written.
#pragma once

#include "analyzer/model/execution.h"

namespace kcheck::analyzer {

/// Of a run from the entry that does not stop: KernelModel::sharedReads and what belongs to them.
void addSharedOrder(KernelState& state, const Execution& whole);

} // namespace kcheck::analyzer
