// Whether a kernel reads memory of its own, shared arrays and locals, before anybody has written it.
#pragma once

#include "analyzer/kernel_model.h"
#include "analyzer/model/prepare/prepare.h"

namespace kcheck::analyzer {

/// Proved where the kernel has no memory of its own that could be read too early. What global memory holds is
/// host code's business: an assumption of the proof, which the run checks.
PropertyResult checkInitialization(const KernelModel& model, const KernelCode& code);

} // namespace kcheck::analyzer
