// Performs a plan's transforms.
#pragma once

#include "instrument/runtime/fft/plan.h"

namespace kcheck::runtime::fft {

/// Unscaled, as cuFFT has it. `in` and `out` may be the same.
void execute(const Plan& plan, const void* in, void* out, bool inverse);

} // namespace kcheck::runtime::fft
