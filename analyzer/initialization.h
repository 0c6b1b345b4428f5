// Whether a kernel reads memory of its own, shared arrays and locals, before anybody has written it.
#pragma once

#include "analyzer/kernel_model.h"
#include "analyzer/model/prepare/prepare.h"

#include <optional>

namespace kcheck::analyzer {

/// `ofShared`: the answer about shared memory, where it was asked for. Proved where no other memory of the
/// kernel's own could be read too early. What global memory holds is host code's business: an assumption of
/// the proof, which the run checks.
PropertyResult checkInitialization(const KernelModel& model, const KernelCode& code,
                                   const std::optional<PropertyResult>& ofShared);

} // namespace kcheck::analyzer
