// Graphs: nodes of stream work with dependencies, made by capture or by hand, copied when instantiated,
// replayed when launched.
#pragma once

#include "instrument/runtime/api/handles.h"
#include "instrument/runtime/api/work.h"

#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

namespace kcheck::cuda {

struct GraphNode {
  runtime::api::Work work;
  std::vector<GraphNode*> after; ///< dependencies
  Graph* graph = nullptr;
  std::uint64_t number = 0; ///< orders nodes of a graph as they were made
  bool enabled = true;
  /// Of replay: the node's own stream and the event at its end, where the graph is no chain.
  mutable std::uint64_t stream = 0, done = 0;
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
  std::uint64_t made = 0;
  /// Events at the start and at the end of the last replay, which the next one waits for in any stream.
  mutable std::uint64_t begin = 0, end = 0;
  std::unordered_map<const GraphNode*, GraphNode*> twins; ///< of a copy: original to own node
  CaptureMode captureMode = CaptureMode::Global;          ///< while it is being captured
  std::thread::id captureThread;                          ///< that began the capture
  bool isSpoilt = false;                                  ///< the capture ends without a graph
};

struct GraphExec {
  std::shared_ptr<Graph> graph; ///< a launch that has begun keeps it
  unsigned long long flags = 0;
};

} // namespace kcheck::cuda

namespace kcheck::runtime::api {

HandleTable<cuda::Graph>& graphs();
HandleTable<cuda::GraphExec>& executables();

/// Whether the graph is the program's, or one under capture.
bool isGraph(const cuda::Graph* graph);
/// Whether the node belongs to a graph of the program.
bool isNode(const cuda::GraphNode* node);

cuda::GraphNode* addNode(cuda::Graph& graph, Work work, std::vector<cuda::GraphNode*> after);
std::unique_ptr<cuda::Graph> copyGraph(const cuda::Graph& graph);
cuda::NodeType typeOf(const Work& work);
/// Dependencies first; nodes that do not depend on each other in the order they were made.
std::vector<const cuda::GraphNode*> inOrder(const cuda::Graph& graph);

/// Adds the work to the graph that captures the stream.
cuda::Error capture(cuda::Stream& stream, Work work);
/// The stream waits for an event recorded in a capture: it becomes part of that capture.
cuda::Error joinCapture(cuda::Stream& stream, cuda::Event& event);
/// An event recorded while its stream is captured marks a place in the graph.
cuda::Error recordInCapture(cuda::Event& event, cuda::Stream& stream);

// What a capture forbids spoils it: it ends without a graph.

/// Waiting for other streams and events, and allocating: Success unless a capture forbids them, which only
/// relaxed ones do not.
cuda::Error allowedDuringCaptures();
/// Waiting for the whole device: Success while nothing is captured.
cuda::Error deviceWaitAllowed();
/// Work in the legacy default stream, which would depend on what is captured: Success or the error.
cuda::Error legacyStreamAllowed();
/// Spoils the capture that makes the graph; returns the error.
cuda::Error spoilCapture(cuda::Graph& graph, cuda::Error error);

} // namespace kcheck::runtime::api
