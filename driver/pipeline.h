// The way of the data, from options to a report. main.cpp calls the steps in order.
#pragma once

#include "driver/options.h"

namespace kcheck::driver {

/// Where no file has a main, a library may: `-lgtest_main`.
void findMain(Facts& facts, const Options& options);

/// Turns the names that --kernel gives into symbols, templates into all their instantiations. No kernel at
/// all, or none of such a name, is an error.
OrError<std::monostate> findKernels(const frontend::Program& program, Options& options);

/// Runs the passes that the options ask for and joins what they say.
OrError<Report> check(const frontend::Program& program, const Options& options);

/// 0 nothing to report, 1 findings, 3 the program failed by itself (see docs/architecture.md).
int exitStatus(const Report& report, const Options& options);

/// The text of --dump.
std::string dumpOf(const frontend::Program& program, const Options& options);

} // namespace kcheck::driver
