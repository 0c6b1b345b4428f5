// Launches that have been set aside (core/company.h), as the host sees them: work of their streams is put off
// until they have ended, and calls that wait for a stream wait for them. Whatever may let them go on gives
// them a turn.
#pragma once

#include "instrument/runtime/api/stream.h"
#include "instrument/runtime/api/work.h"

#include <memory>

namespace kcheck::runtime::api {

/// Something has been set aside or put off: rare, and asked first everywhere.
bool anythingLives();
void noteWhatLives(); ///< under StreamTable::working, after anything that may have changed it
/// Work is to begin in the stream. True: something comes before it there that has not ended, and it is kept
/// for later.
bool putOff(cuda::Stream& stream, Work& work);
/// The nodes of the graph, as part of the stream: now what can be performed now.
void performGraph(std::shared_ptr<const cuda::Graph> graph, std::uint64_t stream);
/// All that can go on does, until nobody gets anywhere.
void goOn();

/// goOn() while the host does something else. True: something has come of it.
bool attendLaunches();

bool isBusy(const cuda::Stream& stream);
bool isBusy(const cuda::Event& event); ///< its record has been put off
/// The host waits. Launches that it would wait for without an end hang: that is told, and ends them.
void waitFor(cuda::Stream& stream);
void waitFor(cuda::Event& event);
void waitForAll();
/// The host may wait, as in cudaFree: what cannot end now lives on.
void tryToEndAll();
/// A stream is no longer the program's; what is put off in it stays.
void keep(std::unique_ptr<cuda::Stream> stream);
/// The device is reset.
void dropAll();

} // namespace kcheck::runtime::api
