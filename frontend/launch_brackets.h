// Launches as nvcc takes them and clang does not: `k << <grid, block >> >(p)`, as some editors format them,
// and `k<<<{2, 2}, {8, 8}>>>(p)`.
#pragma once

#include "frontend/raw_tokens.h"

namespace kcheck::frontend {

/// `tokens` are those of the text that `adapted` began as; no token has moved since that stands from `<<` to
/// the end of a launch's configuration. Only a size in braces makes the text longer, by `dim3` in front of
/// it.
void adaptLaunches(const std::vector<RawToken>& tokens, std::string& adapted);

} // namespace kcheck::frontend
