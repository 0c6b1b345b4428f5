// Graphs made by hand: the graphs and the nodes that are added to them.
#include "instrument/runtime/api/graph.h"

#include "instrument/runtime/api/copies.h"
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/graph_calls.h"
#include "instrument/runtime/api/graph_nodes.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/api/stream.h"

namespace kcheck::runtime::api {

using cuda::Graph;
using cuda::GraphNode;

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
      Error error = copyToSymbol({symbol, offset}, from, bytes, kind, "a memcpy node", caller, work);
      return error == Error::Success ? check(work) : error;
    });
  });
}

Error cudaGraphAddMemcpyNodeFromSymbol(GraphNode** node, Graph* graph, Dependencies after, std::size_t count,
                                       void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                       cuda::CopyKind kind) {
  void* caller = __builtin_return_address(0);
  return call([&] {
    return makeNode<CopyWork>(node, graph, after, count, [&](CopyWork& work) {
      Error error = copyFromSymbol(to, {symbol, offset}, bytes, kind, "a memcpy node", caller, work);
      return error == Error::Success ? check(work) : error;
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

} // extern "C"
