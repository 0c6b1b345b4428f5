// __cudaRegister*: the calls that clang and nvcc generate into every host object, run before main.
#include "instrument/runtime/api/registry.h"

#include "instrument/runtime/api/exit.h"
#include "instrument/runtime/core/launch.h"
#include "instrument/runtime/core/memory.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace kcheck::runtime::api {
namespace {

struct Variable {
  const char* name;
  std::size_t bytes;
  bool constant;
};

struct ManagedVariable {
  void** slot; ///< the host's pointer to the variable
  const char* name;
};

struct Registry {
  std::mutex mutex;
  std::unordered_map<const void*, std::unique_ptr<Function>> functions;
  std::unordered_map<const void*, Variable> variables;
  std::vector<ManagedVariable> managed;           ///< not yet placed
  std::unordered_map<const void*, Symbol> placed; ///< managed variables by their address
};

Registry& registry() {
  static Registry* instance = new Registry; // outlives every exit handler
  return *instance;
}

Function* resolved(Function& function) {
  if (!function.kernel) function.kernel = findKernel(function.name);
  return &function;
}

} // namespace

KernelLimits Function::limits() const {
  KernelLimits result;
  result.staticShared = kernel ? kernel->declaredSharedBytes : 0;
  result.maxThreads = kernel ? kernel->maxThreads : 0;
  result.maxDynamicShared = dynamicSharedSet ? maxDynamicShared : defaultDynamicShared(result.staticShared);
  return result;
}

Function* findFunction(const void* stub) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().functions.find(stub);
  if (found != registry().functions.end()) return resolved(*found->second);
  for (auto& [address, function] : registry().functions) // a handle of cudaGetFuncBySymbol
    if (function.get() == stub) return resolved(*function);
  return nullptr;
}

Function* findFunctionByName(const char* name) {
  std::lock_guard lock(registry().mutex);
  for (auto& [address, function] : registry().functions)
    if (std::string(function->name) == name) return resolved(*function);
  return nullptr;
}

bool findVariable(const void* shadow, Symbol& symbol) {
  std::lock_guard lock(registry().mutex);
  // Host code names a managed variable by its address in device memory.
  if (auto managed = registry().placed.find(shadow); managed != registry().placed.end()) {
    symbol = managed->second;
    return true;
  }
  auto found = registry().variables.find(shadow);
  if (found == registry().variables.end()) return false;
  symbol.name = found->second.name;
  symbol.constant = found->second.constant;
  symbol.bytes = found->second.bytes;
  std::size_t bytes = 0;
  symbol.address = findSymbol(symbol.name, &bytes);
  if (symbol.address && bytes) symbol.bytes = bytes;
  return symbol.address != nullptr;
}

void placeManagedVariables() {
  std::lock_guard lock(registry().mutex);
  std::erase_if(registry().managed, [](const ManagedVariable& variable) {
    Symbol symbol;
    symbol.name = variable.name;
    symbol.address = findSymbol(variable.name, &symbol.bytes);
    if (!symbol.address) return false;
    *variable.slot = symbol.address;
    registry().placed[symbol.address] = symbol;
    return true;
  });
}

bool isManagedVariable(const void* address) {
  std::lock_guard lock(registry().mutex);
  return registry().placed.contains(address);
}

} // namespace kcheck::runtime::api

using namespace kcheck::runtime::api;

extern "C" {

/// The fat binary holds nothing that we read: the device code is linked in. Any handle that is not null will
/// do.
void** __cudaRegisterFatBinary(void* /*fatBinary*/) {
  static void* handle = &handle;
  watchExit();
  return &handle;
}

void __cudaRegisterFatBinaryEnd(void** /*handle*/) { placeManagedVariables(); }

void __cudaUnregisterFatBinary(void** /*handle*/) {}

char __cudaInitModule(void** /*handle*/) {
  placeManagedVariables();
  return 1;
}

int __cudaRegisterFunction(void** /*handle*/, const char* stub, char* /*deviceFunction*/, const char* name,
                           int /*threadLimit*/, void* /*threadId*/, void* /*blockId*/, void* /*blockDim*/,
                           void* /*gridDim*/, int* /*warpSize*/) {
  auto function = std::make_unique<Function>();
  function->name = name;
  std::lock_guard lock(registry().mutex);
  registry().functions[stub] = std::move(function);
  return 0;
}

void __cudaRegisterVar(void** /*handle*/, char* shadow, char* /*address*/, const char* name, int /*external*/,
                       std::size_t bytes, int constant, int /*global*/) {
  std::lock_guard lock(registry().mutex);
  registry().variables[shadow] = {name, bytes, constant != 0};
  kcheck::runtime::registerHostCopy(shadow, bytes, name);
}

void __cudaRegisterHostVar(void** /*handle*/, const char* /*name*/, char* /*variable*/,
                           std::size_t /*bytes*/) {}

void __cudaRegisterManagedVar(void** /*handle*/, void** slot, char* /*address*/, const char* name,
                              int /*external*/, std::size_t bytes, int /*constant*/, int /*global*/) {
  std::lock_guard lock(registry().mutex);
  registry().managed.push_back({slot, name});
  registry().variables[slot] = {name, bytes,
                                false}; // the pointer variable stands for the symbol in API calls
}

// Texture and surface references went with CUDA 12; compilers still emit the names for old code.
void __cudaRegisterTexture(void** /*handle*/, const void* /*reference*/, const void** /*address*/,
                           const char* name, int /*dimensions*/, int /*normalised*/, int /*external*/) {
  std::lock_guard lock(registry().mutex);
  registry().variables[name] = {name, 0, false};
}

void __cudaRegisterSurface(void** /*handle*/, const void* /*reference*/, const void** /*address*/,
                           const char* name, int /*dimensions*/, int /*external*/) {
  std::lock_guard lock(registry().mutex);
  registry().variables[name] = {name, 0, false};
}

} // extern "C"
