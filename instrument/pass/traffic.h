// Notes on how memory was used, from the run's metrics: uncoalesced global accesses and bank conflicts.
#pragma once

#include "instrument/instrument.h"

namespace kcheck::instrument {

void addTrafficNotes(Observation& observation, const Facts& facts);

} // namespace kcheck::instrument
