// Questions about graphs and their nodes, and changes of what depends on what.
#include "instrument/runtime/api/graph_calls.h"

#include <algorithm>
#include <cstdio>

namespace kcheck::runtime::api {

using cuda::Graph;
using cuda::GraphNode;

namespace {

template <class List> Error copyOut(const List& nodes, GraphNode** result, std::size_t* count) {
  if (!count) return Error::InvalidValue;
  if (result) {
    std::size_t room = *count;
    for (std::size_t i = 0; i < room; ++i) result[i] = i < nodes.size() ? nodes[i] : nullptr;
    *count = std::min(room, nodes.size());
  } else {
    *count = nodes.size();
  }
  return Error::Success;
}

std::vector<GraphNode*> nodesOf(const Graph& graph, bool rootsOnly) {
  std::vector<GraphNode*> nodes;
  for (const auto& node : graph.nodes)
    if (!rootsOnly || node->after.empty()) nodes.push_back(node.get());
  return nodes;
}

} // namespace
} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;
using cuda::Graph;
using cuda::GraphNode;
using Dependencies = GraphNode* const*;

extern "C" {

Error cudaGraphGetNodes(Graph* handle, GraphNode** nodes, std::size_t* count) {
  return withGraph(handle, [&](Graph& graph) { return copyOut(nodesOf(graph, false), nodes, count); });
}

Error cudaGraphGetRootNodes(Graph* handle, GraphNode** nodes, std::size_t* count) {
  return withGraph(handle, [&](Graph& graph) { return copyOut(nodesOf(graph, true), nodes, count); });
}

Error cudaGraphGetEdges(Graph* handle, GraphNode** from, GraphNode** to, cuda::EdgeData* data,
                        std::size_t* count) {
  return withGraph(handle, [&](Graph& graph) {
    if (!count) return Error::InvalidValue;
    std::size_t found = 0, room = from && to ? *count : 0;
    for (const auto& node : graph.nodes)
      for (GraphNode* before : node->after) {
        if (found < room) from[found] = before, to[found] = node.get();
        if (found < room && data) data[found] = {};
        ++found;
      }
    *count = from && to ? std::min(found, room) : found;
    return Error::Success;
  });
}

Error cudaGraphNodeGetDependencies(GraphNode* handle, GraphNode** nodes, cuda::EdgeData* /*data*/,
                                   std::size_t* count) {
  return withNode(handle, [&](GraphNode& node) { return copyOut(node.after, nodes, count); });
}

Error cudaGraphNodeGetDependentNodes(GraphNode* handle, GraphNode** nodes, cuda::EdgeData* /*data*/,
                                     std::size_t* count) {
  return withNode(handle, [&](GraphNode& node) {
    std::vector<GraphNode*> followers;
    for (const auto& other : node.graph->nodes)
      if (std::find(other->after.begin(), other->after.end(), &node) != other->after.end())
        followers.push_back(other.get());
    return copyOut(followers, nodes, count);
  });
}

Error cudaGraphAddDependencies(Graph* handle, Dependencies from, Dependencies to,
                               const cuda::EdgeData* /*data*/, std::size_t count) {
  return withGraph(handle, [&](Graph&) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!isNode(from[i]) || !isNode(to[i])) return Error::InvalidValue;
      to[i]->after.push_back(from[i]);
    }
    return Error::Success;
  });
}

Error cudaGraphRemoveDependencies(Graph* handle, Dependencies from, Dependencies to,
                                  const cuda::EdgeData* /*data*/, std::size_t count) {
  return withGraph(handle, [&](Graph&) {
    for (std::size_t i = 0; i < count; ++i)
      if (!isNode(to[i]) || std::erase(to[i]->after, from[i]) == 0) return Error::InvalidValue;
    return Error::Success;
  });
}

Error cudaGraphDestroyNode(GraphNode* handle) {
  return withNode(handle, [&](GraphNode& node) {
    Graph& graph = *node.graph;
    for (const auto& other : graph.nodes) std::erase(other->after, &node);
    std::erase_if(graph.nodes, [&](const auto& other) { return other.get() == &node; });
    return Error::Success;
  });
}

Error cudaGraphNodeGetType(GraphNode* handle, cuda::NodeType* type) {
  return withNode(handle, [&](GraphNode& node) {
    if (!type) return Error::InvalidValue;
    *type = typeOf(node.work);
    return Error::Success;
  });
}

Error cudaGraphKernelNodeGetParams(GraphNode* handle, cuda::KernelNodeParams* parameters) {
  return withNode(handle, [&](GraphNode& node) {
    const auto* work = std::get_if<KernelWork>(&node.work);
    if (!work || !parameters) return Error::InvalidValue;
    *parameters = {const_cast<void*>(work->function), work->grid,      work->block,
                   unsigned(work->dynamicShared),     work->arguments, nullptr};
    return Error::Success;
  });
}

Error cudaGraphHostNodeGetParams(GraphNode* handle, cuda::HostNodeParams* parameters) {
  return withNode(handle, [&](GraphNode& node) {
    const auto* work = std::get_if<HostWork>(&node.work);
    if (!work || !parameters) return Error::InvalidValue;
    *parameters = {work->function, work->userData};
    return Error::Success;
  });
}

Error cudaGraphMemAllocNodeGetParams(GraphNode* handle, cuda::AllocateNodeParams* parameters) {
  return withNode(handle, [&](GraphNode& node) {
    const auto* work = std::get_if<AllocateWork>(&node.work);
    if (!work || !parameters) return Error::InvalidValue;
    *parameters = {};
    parameters->bytes = work->bytes;
    parameters->pointer = work->pointer;
    return Error::Success;
  });
}

Error cudaGraphDebugDotPrint(Graph* handle, const char* path, unsigned /*flags*/) {
  return withGraph(handle, [&](Graph& graph) {
    FILE* file = path ? std::fopen(path, "w") : nullptr;
    if (!file) return Error::OperatingSystem;
    std::fprintf(file, "digraph graph_0 {\n");
    for (const auto& node : graph.nodes) {
      std::fprintf(file, "  n%llu [label=\"%d\"];\n", (unsigned long long)node->number,
                   int(typeOf(node->work)));
      for (const GraphNode* before : node->after)
        std::fprintf(file, "  n%llu -> n%llu;\n", (unsigned long long)before->number,
                     (unsigned long long)node->number);
    }
    std::fprintf(file, "}\n");
    std::fclose(file);
    return Error::Success;
  });
}

} // extern "C"
