// Graphs as data: nodes, copies, the order of their nodes.
#include "instrument/runtime/api/graph.h"

#include <algorithm>
#include <map>

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

} // namespace kcheck::runtime::api
