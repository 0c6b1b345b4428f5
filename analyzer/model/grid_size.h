// Whether it matters that a launch has fewer than 2^31 threads along each axis, which the model of a launch
// of any size takes for a fact.
#pragma once

namespace kcheck::analyzer {

struct KernelModel;

/// Some access goes by a part of a block's index, or by whether that reaches a number so large that only the
/// fact may keep it from it. What products and sums of indices rest on is noted where these are made.
bool hangsOnGridSize(const KernelModel& model);

} // namespace kcheck::analyzer
