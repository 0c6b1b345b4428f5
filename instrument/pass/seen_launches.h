// The launches of a run with the arguments that it passed, read back from the log.
#pragma once

#include "instrument/pass/wire_reader.h"
#include "report/program.h"

#include <functional>

namespace kcheck::instrument {

/// `place` turns a return address into its call's place, `name` an allocating call's place into what it
/// allocates.
SeenLaunches seenLaunches(const WireReader& reader, const std::function<Location(std::uint64_t)>& place,
                          const std::function<std::string(const Location&)>& name);

} // namespace kcheck::instrument
