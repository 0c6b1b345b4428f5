#include "instrument/runtime/api/graph_run.h"

#include "instrument/runtime/api/stream.h"
#include "instrument/runtime/core/launch.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kcheck::runtime::api {

using cuda::Graph;
using cuda::GraphNode;

namespace {

/// Each node depends on the one before it: the whole graph is work of one stream.
bool isOneChain(const std::vector<const GraphNode*>& order) {
  for (std::size_t i = 1; i < order.size(); ++i)
    if (std::find(order[i]->after.begin(), order[i]->after.end(), order[i - 1]) == order[i]->after.end())
      return false;
  return true;
}

/// Branches are streams of their own, so that unordered nodes can be seen to race.
void beginBranch(const Graph& graph, const GraphNode& node, std::uint64_t target) {
  if (!node.stream) {
    node.stream = newId();
    node.done = newId();
    streamCreated(node.stream, false);
  }
  streamIsBranch(node.stream, target);
  streamWaits(node.stream, graph.begin);
  for (const GraphNode* before : node.after) streamWaits(node.stream, before->done);
}

void performNode(const GraphNode& node, std::uint64_t stream, bool mayWait) {
  if (!node.enabled) return;
  if (const auto* child = std::get_if<ChildWork>(&node.work)) return performChild(*child->graph, stream);
  if (mayWait || !std::holds_alternative<KernelWork>(node.work)) return perform(node.work, stream);
  KernelWork alone = std::get<KernelWork>(node.work);
  alone.mayWait = false;
  perform(alone, stream);
}

} // namespace

GraphRun::GraphRun(std::shared_ptr<const Graph> graph, std::uint64_t stream)
    : graph(std::move(graph)), target(stream), order(inOrder(*this->graph)), isChain(isOneChain(order)) {
  for (const GraphNode* node : order) states[node] = State::Waits;
}

bool GraphRun::mayBegin(const GraphNode& node) const {
  return std::ranges::all_of(node.after,
                             [&](const GraphNode* before) { return states.at(before) == State::Over; });
}

/// Launches of one graph follow each other in any stream.
void GraphRun::enter() {
  entered = true;
  if (graph->end) streamWaits(target, graph->end);
  if (isChain) return;
  if (!graph->begin) graph->begin = newId();
  eventRecorded(graph->begin, target);
}

void GraphRun::begin(const GraphNode& node) {
  if (!isChain) beginBranch(*graph, node, target);
  states[&node] = State::Lives;
  performNode(node, streamOf(node), true);
}

void GraphRun::end(const GraphNode& node) {
  states[&node] = State::Over;
  if (!isChain) eventRecorded(node.done, node.stream);
}

void GraphRun::finish() {
  over = true;
  if (!isChain) {
    std::set<const GraphNode*> last(order.begin(), order.end());
    for (const GraphNode* node : order)
      for (const GraphNode* before : node->after) last.erase(before);
    for (const GraphNode* node : last) streamWaits(target, node->done);
  }
  if (!graph->end) graph->end = newId();
  eventRecorded(graph->end, target);
}

bool GraphRun::advance() {
  if (!entered) enter();
  bool moved = false, all = true;
  for (const GraphNode* node : order) {
    State& state = states[node];
    if (state == State::Waits && mayBegin(*node)) {
      begin(*node);
      moved = true;
    }
    if (state == State::Lives && !isSetAsideIn(streamOf(*node))) {
      end(*node);
      moved = true;
    }
    all &= state == State::Over;
  }
  if (all) finish();
  return moved || all;
}

void performChild(const Graph& graph, std::uint64_t stream) {
  const std::vector<const GraphNode*> order = inOrder(graph);
  if (graph.end) streamWaits(stream, graph.end);
  const bool isChain = isOneChain(order);
  if (!graph.begin) graph.begin = newId();
  eventRecorded(graph.begin, stream);
  for (const GraphNode* node : order) {
    if (!isChain) beginBranch(graph, *node, stream);
    performNode(*node, isChain ? stream : node->stream, false);
    if (!isChain) eventRecorded(node->done, node->stream);
  }
  for (const GraphNode* node : order)
    if (!isChain) streamWaits(stream, node->done);
  if (!graph.end) graph.end = newId();
  eventRecorded(graph.end, stream);
}

} // namespace kcheck::runtime::api
