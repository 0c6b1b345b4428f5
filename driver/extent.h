// `--block=32,8` and `--grid=*,4`: a launch extent, checked against CUDA's limits.
#pragma once

#include "analyzer/analyzer.h"

namespace kcheck::driver {

enum class ExtentOf : std::uint8_t { Block, Grid };
OrError<Extent> parseExtent(const std::string& text, ExtentOf what);

} // namespace kcheck::driver
