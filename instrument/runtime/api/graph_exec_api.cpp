// Executable graphs: instantiation, launch, and changes of nodes in place.
#include "instrument/runtime/api/copies.h"
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/graph.h"
#include "instrument/runtime/api/graph_nodes.h"
#include "instrument/runtime/api/stream.h"

namespace kcheck::runtime::api {
namespace {

using cuda::Graph;
using cuda::GraphExec;
using cuda::GraphNode;

Error instantiate(GraphExec** result, const Graph* graph, unsigned long long flags) {
  if (!result || !isGraph(graph)) return Error::InvalidValue;
  if (inOrder(*graph).size() != graph->nodes.size()) return Error::InvalidValue; // a cycle
  auto executable = std::make_unique<GraphExec>();
  executable->graph = copyGraph(*graph);
  executable->flags = flags;
  *result = executables().add(std::move(executable));
  return Error::Success;
}

/// The work of a node of the program's graph (executable null), or of its twin in an executable graph.
Work* workOf(GraphExec* executable, GraphNode* node) {
  if (!executable) return isNode(node) ? &node->work : nullptr;
  if (!executables().contains(executable)) return nullptr;
  auto found = executable->graph->twins.find(node);
  return found == executable->graph->twins.end() ? nullptr : &found->second->work;
}

template <class Made, class Make> Error change(GraphExec* executable, GraphNode* node, Make&& make) {
  Work* work = workOf(executable, node);
  if (!work || !std::holds_alternative<Made>(*work)) return Error::InvalidValue;
  Made changed;
  if (Error error = make(changed); error != Error::Success) return error;
  if constexpr (std::is_same_v<Made, KernelWork>) {
    auto kept = std::make_shared<KernelArguments>(copyArguments(*changed.kernel, changed.arguments));
    changed.arguments = kept->pointers.data();
    changed.kept = std::move(kept);
  }
  *work = std::move(changed);
  return Error::Success;
}

Error changeKernel(GraphExec* executable, GraphNode* node, const cuda::KernelNodeParams* parameters,
                   void* caller) {
  if (!parameters) return Error::InvalidValue;
  return change<KernelWork>(executable, node,
                            [&](KernelWork& work) { return kernelWork(*parameters, caller, work); });
}
Error changeFill(GraphExec* executable, GraphNode* node, const cuda::FillNodeParams* parameters,
                 void* caller) {
  if (!parameters) return Error::InvalidValue;
  return change<FillWork>(executable, node,
                          [&](FillWork& work) { return fillWork(*parameters, caller, work); });
}
Error changeCopy(GraphExec* executable, GraphNode* node, const cuda::Copy3D* parameters, void* caller) {
  if (!parameters) return Error::InvalidValue;
  return change<CopyWork>(executable, node,
                          [&](CopyWork& work) { return copyWork3D(*parameters, caller, work); });
}
Error changeHost(GraphExec* executable, GraphNode* node, const cuda::HostNodeParams* parameters) {
  if (!parameters || !parameters->function) return Error::InvalidValue;
  return change<HostWork>(executable, node, [&](HostWork& work) {
    work = {parameters->function, parameters->userData};
    return Error::Success;
  });
}
Error changeLinearCopy(GraphExec* executable, GraphNode* node, const CopyWork& wanted) {
  return change<CopyWork>(executable, node, [&](CopyWork& work) {
    work = wanted;
    return check(work);
  });
}

/// Same shape: node by node the same type and the same dependencies.
int compare(const Graph& mine, const Graph& theirs, const GraphNode*& node) {
  if (mine.nodes.size() != theirs.nodes.size()) return 2;
  for (std::size_t i = 0; i < mine.nodes.size(); ++i) {
    const GraphNode &a = *mine.nodes[i], &b = *theirs.nodes[i];
    node = &b;
    if (typeOf(a.work) != typeOf(b.work)) return 3;
    if (a.after.size() != b.after.size()) return 2;
    for (std::size_t k = 0; k < a.after.size(); ++k)
      if (a.after[k]->number != b.after[k]->number) return 2;
  }
  node = nullptr;
  return 0;
}

} // namespace
} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;
using cuda::Graph;
using cuda::GraphExec;
using cuda::GraphNode;

extern "C" {

Error cudaGraphInstantiate(GraphExec** executable, Graph* graph, unsigned long long flags) {
  return call([&] { return instantiate(executable, graph, flags); });
}

Error cudaGraphInstantiateWithFlags(GraphExec** executable, Graph* graph, unsigned long long flags) {
  return call([&] { return instantiate(executable, graph, flags); });
}

Error cudaGraphInstantiateWithParams(GraphExec** executable, Graph* graph,
                                     cuda::InstantiateParams* parameters) {
  return call([&] {
    if (!parameters) return Error::InvalidValue;
    Error error = instantiate(executable, graph, parameters->flags);
    parameters->failedNode = nullptr;
    parameters->result = error == Error::Success ? 0 : 1;
    return error;
  });
}

Error cudaGraphExecGetFlags(GraphExec* executable, unsigned long long* flags) {
  return call([&] {
    if (!flags || !executables().contains(executable)) return Error::InvalidValue;
    *flags = executable->flags;
    return Error::Success;
  });
}

Error cudaGraphUpload(GraphExec* executable, cuda::StreamHandle stream) {
  return call([&] {
    if (!resolve(stream)) return Error::InvalidResourceHandle;
    return executables().contains(executable) ? Error::Success : Error::InvalidValue;
  });
}

Error cudaGraphLaunch(GraphExec* executable, cuda::StreamHandle stream) {
  return call([&] {
    if (!executables().contains(executable)) return Error::InvalidValue;
    cuda::Stream* target = resolve(stream);
    if (!target) return Error::InvalidResourceHandle;
    std::shared_ptr<Graph> graph = executable->graph;
    if (target->capturing) graph = copyGraph(*graph);
    return submit(stream, ChildWork{std::move(graph)});
  });
}

Error cudaGraphExecDestroy(GraphExec* executable) {
  return call([&] { return executables().remove(executable) ? Error::Success : Error::InvalidValue; });
}

Error cudaGraphKernelNodeSetParams(GraphNode* node, const cuda::KernelNodeParams* parameters) {
  void* caller = __builtin_return_address(0);
  return call([&] { return changeKernel(nullptr, node, parameters, caller); });
}

Error cudaGraphExecKernelNodeSetParams(GraphExec* executable, GraphNode* node,
                                       const cuda::KernelNodeParams* parameters) {
  void* caller = __builtin_return_address(0);
  return call(
      [&] { return executable ? changeKernel(executable, node, parameters, caller) : Error::InvalidValue; });
}

Error cudaGraphMemsetNodeSetParams(GraphNode* node, const cuda::FillNodeParams* parameters) {
  void* caller = __builtin_return_address(0);
  return call([&] { return changeFill(nullptr, node, parameters, caller); });
}

Error cudaGraphExecMemsetNodeSetParams(GraphExec* executable, GraphNode* node,
                                       const cuda::FillNodeParams* parameters) {
  void* caller = __builtin_return_address(0);
  return call(
      [&] { return executable ? changeFill(executable, node, parameters, caller) : Error::InvalidValue; });
}

Error cudaGraphMemcpyNodeSetParams(GraphNode* node, const cuda::Copy3D* parameters) {
  void* caller = __builtin_return_address(0);
  return call([&] { return changeCopy(nullptr, node, parameters, caller); });
}

Error cudaGraphExecMemcpyNodeSetParams(GraphExec* executable, GraphNode* node,
                                       const cuda::Copy3D* parameters) {
  void* caller = __builtin_return_address(0);
  return call(
      [&] { return executable ? changeCopy(executable, node, parameters, caller) : Error::InvalidValue; });
}

Error cudaGraphMemcpyNodeSetParams1D(GraphNode* node, void* to, const void* from, std::size_t bytes,
                                     cuda::CopyKind kind) {
  CopyWork work = linearCopy(to, from, bytes, kind, "a memcpy node", __builtin_return_address(0));
  return call([&] { return changeLinearCopy(nullptr, node, work); });
}

Error cudaGraphExecMemcpyNodeSetParams1D(GraphExec* executable, GraphNode* node, void* to, const void* from,
                                         std::size_t bytes, cuda::CopyKind kind) {
  CopyWork work = linearCopy(to, from, bytes, kind, "a memcpy node", __builtin_return_address(0));
  return call([&] { return executable ? changeLinearCopy(executable, node, work) : Error::InvalidValue; });
}

Error cudaGraphHostNodeSetParams(GraphNode* node, const cuda::HostNodeParams* parameters) {
  return call([&] { return changeHost(nullptr, node, parameters); });
}

Error cudaGraphExecHostNodeSetParams(GraphExec* executable, GraphNode* node,
                                     const cuda::HostNodeParams* parameters) {
  return call([&] { return executable ? changeHost(executable, node, parameters) : Error::InvalidValue; });
}

Error cudaGraphNodeSetEnabled(GraphExec* executable, GraphNode* node, unsigned enabled) {
  return call([&] {
    if (!executables().contains(executable)) return Error::InvalidValue;
    auto found = executable->graph->twins.find(node);
    if (found == executable->graph->twins.end()) return Error::InvalidValue;
    found->second->enabled = enabled != 0;
    return Error::Success;
  });
}

Error cudaGraphNodeGetEnabled(GraphExec* executable, GraphNode* node, unsigned* enabled) {
  return call([&] {
    if (!enabled || !executables().contains(executable)) return Error::InvalidValue;
    auto found = executable->graph->twins.find(node);
    if (found == executable->graph->twins.end()) return Error::InvalidValue;
    *enabled = found->second->enabled;
    return Error::Success;
  });
}

Error cudaGraphExecUpdate(GraphExec* executable, Graph* graph, cuda::UpdateResult* result) {
  return call([&] {
    if (!executables().contains(executable) || !isGraph(graph)) return Error::InvalidValue;
    const GraphNode* failed = nullptr;
    int difference = compare(*executable->graph, *graph, failed);
    if (result) *result = {difference, const_cast<GraphNode*>(failed), nullptr};
    if (difference) return Error::GraphExecUpdateFailure;
    std::uint64_t end = executable->graph->end;
    executable->graph = copyGraph(*graph);
    executable->graph->end = end;
    return Error::Success;
  });
}

// Memory of graphs is ordinary device memory here: nothing is kept back.

Error cudaDeviceGraphMemTrim(int device) {
  return call([&] { return device == 0 ? Error::Success : Error::InvalidDevice; });
}

Error cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  return call([&] {
    if (device != 0) return Error::InvalidDevice;
    if (!value || attribute < 0 || attribute > 3) return Error::InvalidValue;
    *static_cast<std::uint64_t*>(value) = 0;
    return Error::Success;
  });
}

Error cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
  return call([&] {
    if (device != 0) return Error::InvalidDevice;
    return value && attribute >= 0 && attribute <= 3 ? Error::Success : Error::InvalidValue;
  });
}

} // extern "C"
