// What has to be known of a kernel before its model can be made: what it writes, what may order its threads,
// what one thread does for all.
#pragma once

#include "analyzer/model/knowledge.h"
#include "analyzer/model/model_builder.h"

namespace kcheck::analyzer {

/// Whether one of the kernel's barriers is of that kind.
bool hasBarrier(const KernelCode& code, BarrierKind kind);

Knowledge learnAbout(const PreparedModule& prepared, const KernelCode& code, const Facts& facts,
                     const LaunchCase& launch);

} // namespace kcheck::analyzer
