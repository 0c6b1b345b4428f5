// Graphs made by hand: nodes, their dependencies and parameters, and questions about them.
#include "instrument/runtime/api/graph.h"

#include "instrument/runtime/api/copies.h"
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/graph_nodes.h"
#include "instrument/runtime/api/memory_use.h"
#include "instrument/runtime/api/registry.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/api/stream.h"

#include <algorithm>
#include <cstdio>

namespace kcheck::runtime::api {

using cuda::Graph;
using cuda::GraphNode;

Error kernelWork(const cuda::KernelNodeParams& parameters, void* caller, KernelWork& work) {
  Function* function = findFunction(parameters.function);
  if (!function || !function->kernel) return Error::InvalidDeviceFunction;
  if (parameters.extra || (!parameters.arguments && function->kernel->parameterCount))
    return Error::InvalidValue;
  LaunchShape shape{parameters.grid, parameters.block, parameters.dynamicShared, false, {}};
  LaunchProblem problem = checkLaunch(function->limits(), shape);
  if (problem.error != Error::Success) {
    reportInvalidLaunch(function->display(), problem.reason.c_str(), caller);
    return problem.error;
  }
  work.function = parameters.function;
  work.kernel = function->kernel;
  work.grid = parameters.grid;
  work.block = parameters.block;
  work.dynamicShared = parameters.dynamicShared;
  work.cooperative = work.kernel->usesGridSync & abi::TraitGridSync; // an attribute of the node says so
  work.arguments = parameters.arguments;
  work.caller = caller;
  return Error::Success;
}

Error fillWork(const cuda::FillNodeParams& parameters, void* caller, FillWork& work) {
  unsigned bytes = parameters.elementSize;
  if (bytes != 1 && bytes != 2 && bytes != 4) return Error::InvalidValue;
  std::size_t pitch = parameters.height > 1 ? parameters.pitch : parameters.width * bytes;
  work.to = {static_cast<std::byte*>(parameters.target), pitch, pitch * parameters.height};
  work.width = parameters.width * bytes;
  work.height = parameters.height;
  work.value = parameters.value;
  work.elementBytes = bytes;
  work.function = "a memset node";
  work.caller = caller;
  return check(work);
}

Error copyWork3D(const cuda::Copy3D& parameters, void* caller, CopyWork& work) {
  Error error = describeCopy(parameters, "a memcpy node", caller, work);
  return error == Error::Success ? check(work) : error;
}

Error allocateWork(cuda::AllocateNodeParams& parameters, void* caller, AllocateWork& work) {
  if (parameters.bytes == 0) return Error::InvalidValue;
  Error error = allocateLinear(&work.pointer, parameters.bytes, MemoryKind::Device, caller);
  if (error != Error::Success) return error;
  work.bytes = parameters.bytes;
  work.owner = graphMemory(work.pointer);
  parameters.pointer = work.pointer;
  return Error::Success;
}

std::shared_ptr<void> graphMemory(void* pointer) {
  const Allocation* made = find(pointer);
  std::uint64_t id = made ? made->id : 0;
  return {pointer, [id](void* memory) {
            const Allocation* now = find(memory);
            if (now && now->live && now->id == id && now->base == memory)
              freeLinear(memory, true, "cudaGraphDestroy", nullptr);
          }};
}

Error addTo(GraphNode** result, Graph* graph, GraphNode* const* dependencies, std::size_t count, Work work) {
  if (!result || !isGraph(graph) || (!dependencies && count)) return Error::InvalidValue;
  std::vector<GraphNode*> after(dependencies, dependencies + count);
  for (const GraphNode* node : after)
    if (!isNode(node) || node->graph != graph) return Error::InvalidValue;
  *result = addNode(*graph, std::move(work), std::move(after));
  return Error::Success;
}

namespace {

template <class Made, class Make>
Error makeNode(GraphNode** result, Graph* graph, GraphNode* const* dependencies, std::size_t count,
               Make&& make) {
  Made work;
  if (Error error = make(work); error != Error::Success) return error;
  return addTo(result, graph, dependencies, count, std::move(work));
}

Error makeGeneric(GraphNode** result, Graph* graph, GraphNode* const* dependencies, std::size_t count,
                  cuda::NodeParams& parameters, void* caller) {
  auto add = [&](Work work) { return addTo(result, graph, dependencies, count, std::move(work)); };
  auto make = [&]<class Made>(Made work, Error error) {
    return error == Error::Success ? add(std::move(work)) : error;
  };
  switch (parameters.type) {
  case cuda::NodeType::Kernel: {
    KernelWork work;
    Error error = kernelWork(parameters.of.kernel, caller, work);
    return make(work, error);
  }
  case cuda::NodeType::Copy: {
    CopyWork work;
    Error error = copyWork3D(parameters.of.copy.copy, caller, work);
    return make(work, error);
  }
  case cuda::NodeType::Fill: {
    FillWork work;
    Error error = fillWork(parameters.of.fill, caller, work);
    return make(work, error);
  }
  case cuda::NodeType::Host: return add(HostWork{parameters.of.host.function, parameters.of.host.userData});
  case cuda::NodeType::Graph:
    if (!isGraph(parameters.of.child.graph)) return Error::InvalidValue;
    return add(ChildWork{copyGraph(*parameters.of.child.graph)});
  case cuda::NodeType::Empty: return add(EmptyWork{});
  case cuda::NodeType::WaitEvent: return add(EventWork{parameters.of.event.event, true});
  case cuda::NodeType::EventRecord: return add(EventWork{parameters.of.event.event, false});
  case cuda::NodeType::Allocate: {
    AllocateWork work;
    Error error = allocateWork(parameters.of.allocate, caller, work);
    return make(work, error);
  }
  case cuda::NodeType::Free: return add(FreeWork{parameters.of.free.pointer, true, caller});
  case cuda::NodeType::Conditional: reportUnsupported("a conditional graph node", caller); break;
  case cuda::NodeType::SemaphoreSignal:
  case cuda::NodeType::SemaphoreWait: reportUnsupported("a semaphore graph node", caller); break;
  }
  return Error::NotSupported;
}

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

template <class Body> Error withGraph(const Graph* graph, Body&& body) {
  return call([&] { return isGraph(graph) ? body(const_cast<Graph&>(*graph)) : Error::InvalidValue; });
}
template <class Body> Error withNode(const GraphNode* node, Body&& body) {
  return call([&] { return isNode(node) ? body(const_cast<GraphNode&>(*node)) : Error::InvalidValue; });
}

} // namespace
} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;
using cuda::Graph;
using cuda::GraphNode;
using Dependencies = GraphNode* const*;

extern "C" {

Error cudaGraphCreate(Graph** graph, unsigned flags) {
  return call([&] {
    if (!graph || flags != 0) return Error::InvalidValue;
    *graph = graphs().add(std::make_unique<Graph>());
    return Error::Success;
  });
}

Error cudaGraphDestroy(Graph* graph) {
  return call([&] { return graphs().remove(graph) ? Error::Success : Error::InvalidValue; });
}

Error cudaGraphClone(Graph** copy, Graph* original) {
  return withGraph(original, [&](Graph& graph) {
    if (!copy) return Error::InvalidValue;
    *copy = graphs().add(copyGraph(graph));
    return Error::Success;
  });
}

Error cudaGraphNodeFindInClone(GraphNode** node, GraphNode* original, Graph* clone) {
  return withGraph(clone, [&](Graph& graph) {
    auto found = graph.twins.find(original);
    if (!node || found == graph.twins.end()) return Error::InvalidValue;
    *node = found->second;
    return Error::Success;
  });
}

Error cudaGraphAddKernelNode(GraphNode** node, Graph* graph, Dependencies after, std::size_t count,
                             const cuda::KernelNodeParams* parameters) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (!parameters) return Error::InvalidValue;
    return makeNode<KernelWork>(node, graph, after, count,
                                [&](KernelWork& work) { return kernelWork(*parameters, caller, work); });
  });
}

Error cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph, Dependencies after, std::size_t count,
                             const cuda::Copy3D* parameters) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (!parameters) return Error::InvalidValue;
    return makeNode<CopyWork>(node, graph, after, count,
                              [&](CopyWork& work) { return copyWork3D(*parameters, caller, work); });
  });
}

Error cudaGraphAddMemcpyNode1D(GraphNode** node, Graph* graph, Dependencies after, std::size_t count,
                               void* to, const void* from, std::size_t bytes, cuda::CopyKind kind) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    return makeNode<CopyWork>(node, graph, after, count, [&](CopyWork& work) {
      work = linearCopy(to, from, bytes, kind, "a memcpy node", caller);
      return check(work);
    });
  });
}

Error cudaGraphAddMemcpyNodeToSymbol(GraphNode** node, Graph* graph, Dependencies after, std::size_t count,
                                     const void* symbol, const void* from, std::size_t bytes,
                                     std::size_t offset, cuda::CopyKind kind) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    return makeNode<CopyWork>(node, graph, after, count, [&](CopyWork& work) {
      void* address = nullptr;
      Error error = symbolCopy(symbol, offset, bytes, kind, true, address);
      if (error != Error::Success) return error;
      work = linearCopy(address, from, bytes, kind, "a memcpy node", caller);
      return check(work);
    });
  });
}

Error cudaGraphAddMemcpyNodeFromSymbol(GraphNode** node, Graph* graph, Dependencies after, std::size_t count,
                                       void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                       cuda::CopyKind kind) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    return makeNode<CopyWork>(node, graph, after, count, [&](CopyWork& work) {
      void* address = nullptr;
      Error error = symbolCopy(symbol, offset, bytes, kind, false, address);
      if (error != Error::Success) return error;
      work = linearCopy(to, address, bytes, kind, "a memcpy node", caller);
      return check(work);
    });
  });
}

Error cudaGraphAddMemsetNode(GraphNode** node, Graph* graph, Dependencies after, std::size_t count,
                             const cuda::FillNodeParams* parameters) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (!parameters) return Error::InvalidValue;
    return makeNode<FillWork>(node, graph, after, count,
                              [&](FillWork& work) { return fillWork(*parameters, caller, work); });
  });
}

Error cudaGraphAddHostNode(GraphNode** node, Graph* graph, Dependencies after, std::size_t count,
                           const cuda::HostNodeParams* parameters) {
  return call([&] {
    if (!parameters || !parameters->function) return Error::InvalidValue;
    return addTo(node, graph, after, count, HostWork{parameters->function, parameters->userData});
  });
}

Error cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph, Dependencies after, std::size_t count,
                                 Graph* child) {
  return withGraph(child, [&](Graph& original) {
    return addTo(node, graph, after, count, ChildWork{copyGraph(original)});
  });
}

Error cudaGraphChildGraphNodeGetGraph(GraphNode* node, Graph** graph) {
  return withNode(node, [&](GraphNode& found) {
    auto* child = std::get_if<ChildWork>(&found.work);
    if (!child || !graph) return Error::InvalidValue;
    *graph = child->graph.get();
    return Error::Success;
  });
}

Error cudaGraphAddEmptyNode(GraphNode** node, Graph* graph, Dependencies after, std::size_t count) {
  return call([&] { return addTo(node, graph, after, count, EmptyWork{}); });
}

Error cudaGraphAddEventRecordNode(GraphNode** node, Graph* graph, Dependencies after, std::size_t count,
                                  cuda::Event* event) {
  return call([&] {
    return resolve(event) ? addTo(node, graph, after, count, EventWork{event, false})
                          : Error::InvalidResourceHandle;
  });
}

Error cudaGraphAddEventWaitNode(GraphNode** node, Graph* graph, Dependencies after, std::size_t count,
                                cuda::Event* event) {
  return call([&] {
    return resolve(event) ? addTo(node, graph, after, count, EventWork{event, true})
                          : Error::InvalidResourceHandle;
  });
}

Error cudaGraphAddMemAllocNode(GraphNode** node, Graph* graph, Dependencies after, std::size_t count,
                               cuda::AllocateNodeParams* parameters) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    if (!parameters) return Error::InvalidValue;
    return makeNode<AllocateWork>(node, graph, after, count, [&](AllocateWork& work) {
      return allocateWork(*parameters, caller, work);
    });
  });
}

Error cudaGraphAddMemFreeNode(GraphNode** node, Graph* graph, Dependencies after, std::size_t count,
                              void* pointer) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    return pointer ? addTo(node, graph, after, count, FreeWork{pointer, true, caller}) : Error::InvalidValue;
  });
}

Error cudaGraphAddNode(GraphNode** node, Graph* graph, Dependencies after, const cuda::EdgeData* /*data*/,
                       std::size_t count, cuda::NodeParams* parameters) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    return parameters ? makeGeneric(node, graph, after, count, *parameters, caller) : Error::InvalidValue;
  });
}

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
