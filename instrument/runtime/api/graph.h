// Graphs as the rest of the API sees them: capture of stream work, and replay.
#pragma once

#include "instrument/runtime/api/work.h"

namespace kcheck::runtime::api {

/// Adds the work to the graph that captures the stream.
cuda::Error capture(cuda::Stream& stream, Work work);
/// The stream waits for an event recorded in a capture: it becomes part of that capture.
cuda::Error joinCapture(cuda::Stream& stream, cuda::Event& event);
/// An event recorded while its stream is captured marks a place in the graph.
cuda::Error recordInCapture(cuda::Event& event, cuda::Stream& stream);
/// A capture that is not relaxed forbids the legacy default stream meanwhile.
bool legacyStreamIsForbidden();
/// Performs all nodes in the order of their dependencies, as part of the stream.
void performGraph(const cuda::Graph& graph, std::uint64_t stream);

} // namespace kcheck::runtime::api
