// Replays: a kernel of a file without main, of which the static pass has left open whether atomic operations,
// flags or locks order its threads, or whether all come to a barrier, is run in a launch of kcheck's own.
#pragma once

#include "driver/options.h"

namespace kcheck::driver {

/// Runs each such kernel once. A race that the run sees at two places which the static pass has named becomes
/// one of the analysis's findings, confirmed, with the launch line that shows it; a barrier at which threads
/// part, or lanes at a collective, a possible one. Whatever else happens there
/// says nothing: the arrays are not a program's.
void replay(analyzer::Analysis& analysis, const frontend::Program& program, const Options& options);

} // namespace kcheck::driver
