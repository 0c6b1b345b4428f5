// Notes on how memory was used, from the run's metrics: uncoalesced global accesses and bank conflicts.
#pragma once

#include "instrument/instrument.h"

namespace kcheck::instrument {

/// Of those metrics that tell something.
void addTrafficNotes(Observation& observation, const std::vector<Metric>& telling, const Facts& facts);

} // namespace kcheck::instrument
