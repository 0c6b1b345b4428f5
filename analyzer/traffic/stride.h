// How far apart consecutive threads access memory, in the program's own words: `4*n`.
#pragma once

#include "analyzer/kernel_model.h"

namespace kcheck::analyzer {

/// The distance in bytes of the accesses of threads i and i + 1 along x, as an expression over parameters;
/// empty where the index is not linear in threadIdx.x.
std::string strideText(const KernelModel& model, ExprContext& exprs, const ModelAccess& access);

} // namespace kcheck::analyzer
