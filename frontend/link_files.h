// Joins the device modules of several files into one, as nvlink would, and renumbers their sites.
#pragma once

#include "frontend/device_side.h"
#include "frontend/frontend.h"

namespace kcheck::frontend {

/// Fills context, device, kernels and sites of `program`. Two definitions of one kernel or variable are an
/// error that names both places.
OrError<std::monostate> linkDevice(std::vector<DeviceSide> sides, Program& program);

} // namespace kcheck::frontend
