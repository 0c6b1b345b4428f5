// Barriers of the grid that a kernel makes itself, of counters in global memory: met in loops or not, as
// often as it likes. Where each block surely waits for all the others, as cooperative groups' grid.sync()
// would let it, the kernel is asked about once more with barriers of the grid in their place.
#pragma once

#include "analyzer/launches.h"
#include "analyzer/model/prepare/prepare.h"

#include <optional>

namespace kcheck::analyzer {

/// The kernel with such barriers, which takes it that all blocks come to the same ones: whether they do is
/// asked of the copy, as of any barrier. Nothing where it has none.
std::optional<KernelCode> withMadeBarriers(const PreparedModule& prepared, const KernelCode& code,
                                           const Facts& facts, const LaunchCase& launch);

} // namespace kcheck::analyzer
