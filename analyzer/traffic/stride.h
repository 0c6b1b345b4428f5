// How far apart consecutive threads access memory, in the program's own words: `4*n`.
#pragma once

#include "analyzer/kernel_model.h"

namespace kcheck::analyzer {

/// The distance in bytes of the accesses of threads i and i + 1 along x, as an expression over parameters;
/// empty where the index is not linear in threadIdx.x.
std::string strideText(const KernelModel& model, ExprContext& exprs, const ModelAccess& access);

/// Whether something else than threadIdx.x counts from element to element: the access goes through rows of
/// which each thread has its own.
bool countsWithinRow(const KernelModel& model, ExprContext& exprs, const ModelAccess& access);

/// What the loop around an access strides by: all threads of the grid, those of the block, or something else.
enum class LoopStride : std::uint8_t { Other, Block, Grid };
LoopStride loopStride(const KernelModel& model, ExprContext& exprs, const ModelAccess& access);

} // namespace kcheck::analyzer
