// Which of the host's values say how much there is to do. A kernel must be right for any number of elements,
// while pitches, modes and places are what its launch makes of them.
#pragma once

#include "analyzer/kernel_model.h"

namespace kcheck::analyzer {

/// Whether the accesses go where they go whatever the host's hidden values are, and some decide whether they
/// do, and nothing else: each bounds an index, a round of a loop or a sum with one.
bool needSizesOnly(const ModelAccess& one, const ModelAccess& other);

} // namespace kcheck::analyzer
