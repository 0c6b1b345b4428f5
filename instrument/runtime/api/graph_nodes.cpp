#include "instrument/runtime/api/graph_nodes.h"

#include "instrument/runtime/api/copies.h"
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/graph.h"
#include "instrument/runtime/api/memory_use.h"
#include "instrument/runtime/api/registry.h"
#include "instrument/runtime/api/reports.h"

namespace kcheck::runtime::api {

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

} // namespace kcheck::runtime::api
