// cudaLaunchKernel and its relatives: from the host stub's address to a checked launch of the kernel behind
// it.
#include "instrument/runtime/api/errors.h"
#include "instrument/runtime/api/registry.h"
#include "instrument/runtime/api/reports.h"
#include "instrument/runtime/api/work.h"

#include <cstring>
#include <utility>
#include <vector>

namespace kcheck::runtime::api {
namespace {

using cuda::Dim3;

/// `kernel<<<grid, block, shared, stream>>>(...)`: pushed by the caller, popped by the kernel's host stub.
struct Configuration {
  Dim3 grid, block;
  std::size_t shared;
  cuda::StreamHandle stream;
  void* caller; ///< the place of the `<<<>>>`; the launch itself is called from the stub
};

struct ThreadLaunches {
  std::vector<Configuration> configurations;
  void* site = nullptr; ///< between the pop and the launch: nobody sees that launch's return value
};

ThreadLaunches& threadLaunches() {
  thread_local ThreadLaunches launches;
  return launches;
}

struct Request {
  const void* function;
  LaunchShape shape;
  void** arguments;
  cuda::StreamHandle stream;
  void* caller;
};

/// The program's launches are those of launch lines, which cannot say that they are cooperative.
bool launchesMeet = false;

Error tryLaunch(const Request& request, const char*& kernelName) {
  Function* function = findFunction(request.function);
  if (!function || !function->kernel) {
    kernelName = function ? function->name : nullptr;
    reportInvalidLaunch(kernelName, "the device code has no such kernel", request.caller);
    return Error::InvalidDeviceFunction;
  }
  kernelName = function->display();
  const LaunchShape& shape = request.shape;
  LaunchProblem problem = checkLaunch(function->limits(), shape);
  if (problem.error != Error::Success) {
    reportInvalidLaunch(kernelName, problem.reason.c_str(), request.caller);
    return problem.error;
  }
  KernelWork work;
  work.function = request.function;
  work.kernel = function->kernel;
  work.grid = shape.grid;
  work.block = shape.block;
  work.dynamicShared = shape.dynamicShared;
  work.cooperative = shape.cooperative || (launchesMeet && (work.kernel->usesGridSync & abi::TraitGridSync));
  work.arguments = request.arguments;
  work.caller = request.caller;
  return submit(request.stream, work);
}

Error launchKernel(Request request) {
  const InRuntime here;
  void* site = std::exchange(threadLaunches().site, nullptr);
  if (site) request.caller = site;
  const char* name = nullptr;
  Error error = stickyError();
  if (error == Error::Success) error = tryLaunch(request, name);
  return site ? rememberLaunchError(error, name, site) : remember(error);
}

Error launchWithAttributes(const cuda::LaunchConfig* config, const void* function, void** arguments,
                           void* caller) {
  if (!config) return remember(Error::InvalidValue);
  Request request{function,
                  {config->grid, config->block, config->dynamicShared, false, {}},
                  arguments,
                  config->stream,
                  caller};
  for (unsigned i = 0; config->attributes && i < config->attributeCount; ++i) {
    const cuda::LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == cuda::LaunchAttributeId::Cooperative)
      request.shape.cooperative = attribute.value.number != 0;
    if (attribute.id == cuda::LaunchAttributeId::ClusterDimension) {
      const unsigned* cluster = attribute.value.shape;
      request.shape.cluster = {cluster[0], cluster[1], cluster[2]};
    }
    // The others (priority, access windows, programmatic serialization) promise speed, not order that we must
    // add.
  }
  return launchKernel(request);
}

} // namespace

KernelArguments copyArguments(const abi::KernelEntry& kernel, void** arguments) {
  KernelArguments copy;
  copy.storage.resize(kernel.argumentBytes);
  for (std::uint32_t i = 0; i < kernel.parameterCount; ++i) {
    const abi::ParameterInfo& parameter = kernel.parameters[i];
    std::memcpy(copy.storage.data() + parameter.offset, arguments[i], parameter.bytes);
    copy.pointers.push_back(copy.storage.data() + parameter.offset);
  }
  return copy;
}

void keepArguments(Work& work) {
  auto* kernel = std::get_if<KernelWork>(&work);
  if (!kernel || kernel->kept) return;
  auto kept = std::make_shared<KernelArguments>(copyArguments(*kernel->kernel, kernel->arguments));
  kernel->arguments = kept->pointers.data();
  kernel->kept = std::move(kept);
}

} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;
namespace cuda = kcheck::cuda;

extern "C" {

/// Called by the main that launch lines make.
void kcLaunchesMeet() { launchesMeet = true; }

unsigned __cudaPushCallConfiguration(cuda::Dim3 grid, cuda::Dim3 block, std::size_t shared,
                                     cuda::StreamHandle stream) {
  threadLaunches().configurations.push_back({grid, block, shared, stream, __builtin_return_address(0)});
  return 0;
}

Error __cudaPopCallConfiguration(cuda::Dim3* grid, cuda::Dim3* block, std::size_t* shared, void* stream) {
  ThreadLaunches& launches = threadLaunches();
  if (launches.configurations.empty()) return remember(Error::MissingConfiguration);
  Configuration top = launches.configurations.back();
  launches.configurations.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cuda::StreamHandle*>(stream) = top.stream;
  launches.site = top.caller;
  return Error::Success;
}

Error cudaLaunchKernel(const void* function, cuda::Dim3 grid, cuda::Dim3 block, void** arguments,
                       std::size_t shared, cuda::StreamHandle stream) {
  return launchKernel(
      {function, {grid, block, shared, false, {}}, arguments, stream, __builtin_return_address(0)});
}

Error cudaLaunchCooperativeKernel(const void* function, cuda::Dim3 grid, cuda::Dim3 block, void** arguments,
                                  std::size_t shared, cuda::StreamHandle stream) {
  return launchKernel(
      {function, {grid, block, shared, true, {}}, arguments, stream, __builtin_return_address(0)});
}

Error cudaLaunchKernelExC(const cuda::LaunchConfig* config, const void* function, void** arguments) {
  return launchWithAttributes(config, function, arguments, __builtin_return_address(0));
}

} // extern "C"
