// Whether it is an assumption that pointers lead apart, or the host's code shows it.
#pragma once

#include "analyzer/model/kernel_state.h"

namespace kcheck::analyzer {

/// Several pointers could lead to the same memory, and of one at least it is not known where it leads.
bool overlapMatters(const KernelState& state);
/// The host could pass the address of one of the program's own variables, which the kernel names as well.
bool variablesMatter(KernelState& state);

} // namespace kcheck::analyzer
