// Graphs as data: nodes, copies, the order of replay.
#include "instrument/runtime/api/graph.h"

#include "instrument/runtime/api/stream.h"
#include "instrument/runtime/core/launch.h"

#include <algorithm>
#include <map>
#include <set>

namespace kcheck::runtime::api {

using cuda::Graph;
using cuda::GraphNode;
using cuda::NodeType;

HandleTable<Graph>& graphs() {
  static auto* table = new HandleTable<Graph>; // outlives every exit handler
  return *table;
}

HandleTable<cuda::GraphExec>& executables() {
  static auto* table = new HandleTable<cuda::GraphExec>;
  return *table;
}

bool isGraph(const Graph* graph) { return graphs().contains(graph); }

bool isNode(const GraphNode* node) {
  bool found = false;
  if (node)
    graphs().forEach([&](Graph& graph) {
      found = found || std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                   [&](const auto& candidate) { return candidate.get() == node; });
    });
  return found;
}

GraphNode* addNode(Graph& graph, Work work, std::vector<GraphNode*> after) {
  keepArguments(work);
  if (auto* kernel = std::get_if<KernelWork>(&work)) kernel->mayWait = false; // the graph goes on behind it
  auto node = std::make_unique<GraphNode>();
  node->work = std::move(work);
  node->after = std::move(after);
  node->graph = &graph;
  node->number = graph.made++;
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().get();
}

std::unique_ptr<Graph> copyGraph(const Graph& graph) {
  auto copy = std::make_unique<Graph>();
  for (const auto& node : graph.nodes) {
    GraphNode* twin = addNode(*copy, node->work, {});
    twin->enabled = node->enabled;
    if (auto* child = std::get_if<ChildWork>(&twin->work)) child->graph = copyGraph(*child->graph);
    copy->twins[node.get()] = twin;
  }
  for (const auto& node : graph.nodes)
    for (const GraphNode* before : node->after)
      copy->twins[node.get()]->after.push_back(copy->twins.at(before));
  return copy;
}

NodeType typeOf(const Work& work) {
  if (const auto* event = std::get_if<EventWork>(&work))
    return event->wait ? NodeType::WaitEvent : NodeType::EventRecord;
  // In the order of the alternatives of Work.
  constexpr NodeType types[] = {NodeType::Empty,    NodeType::Kernel, NodeType::Copy,
                                NodeType::Fill,     NodeType::Host,   NodeType::EventRecord,
                                NodeType::Allocate, NodeType::Free,   NodeType::Graph};
  static_assert(std::size(types) == std::variant_size_v<Work>);
  return types[work.index()];
}

std::vector<const GraphNode*> inOrder(const Graph& graph) {
  std::map<const GraphNode*, std::size_t> waiting;
  std::multimap<const GraphNode*, const GraphNode*> followers;
  std::map<std::uint64_t, const GraphNode*> ready; // by number
  for (const auto& node : graph.nodes) {
    waiting[node.get()] = node->after.size();
    if (node->after.empty()) ready[node->number] = node.get();
    for (const GraphNode* before : node->after) followers.emplace(before, node.get());
  }
  std::vector<const GraphNode*> order;
  while (!ready.empty()) {
    const GraphNode* node = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(node);
    auto [first, last] = followers.equal_range(node);
    for (; first != last; ++first)
      if (--waiting[first->second] == 0) ready[first->second->number] = first->second;
  }
  return order;
}

namespace {

/// Each node depends on the one before it: the whole graph is work of one stream.
bool isChain(const std::vector<const GraphNode*>& order) {
  for (std::size_t i = 1; i < order.size(); ++i)
    if (std::find(order[i]->after.begin(), order[i]->after.end(), order[i - 1]) == order[i]->after.end())
      return false;
  return true;
}

/// Branches are streams of their own, so that unordered nodes can be seen to race.
void performBranches(const Graph& graph, const std::vector<const GraphNode*>& order, std::uint64_t stream) {
  if (!graph.begin) graph.begin = newId();
  eventRecorded(graph.begin, stream);
  std::set<const GraphNode*> last(order.begin(), order.end());
  for (const GraphNode* node : order) {
    if (!node->stream) {
      node->stream = newId();
      node->done = newId();
      streamCreated(node->stream, false);
      streamIsBranch(node->stream);
    }
    streamWaits(node->stream, graph.begin);
    for (const GraphNode* before : node->after) {
      streamWaits(node->stream, before->done);
      last.erase(before);
    }
    if (node->enabled) perform(node->work, node->stream);
    eventRecorded(node->done, node->stream);
  }
  for (const GraphNode* node : last) streamWaits(stream, node->done);
}

} // namespace

void performGraph(const Graph& graph, std::uint64_t stream) {
  if (graph.end) streamWaits(stream, graph.end);
  std::vector<const GraphNode*> order = inOrder(graph);
  if (!isChain(order)) {
    performBranches(graph, order, stream);
  } else {
    for (const GraphNode* node : order)
      if (node->enabled) perform(node->work, stream);
  }
  if (!graph.end) graph.end = newId();
  eventRecorded(graph.end, stream);
}

} // namespace kcheck::runtime::api
