#include "bench/twins.h"

#include "frontend/frontend.h"
#include "instrument/instrument.h"
#include "instrument/runtime/core/context.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <dlfcn.h>
#include <unistd.h>

namespace kcheck::bench {

namespace {

/// Makes a shared library of the object and loads it; its constructor registers the kernels with the runtime
/// that is linked into this program.
OrError<std::monostate> load(const std::string& object, const std::string& path) {
  std::ofstream(path + ".o", std::ios::binary) << object;
  std::string command = std::string(KCHECK_CLANG) + " -fuse-ld=lld -shared -o " + path + ".so " + path + ".o";
  if (std::system(command.c_str()) != 0) return Error{"cannot link the kernels"};
  if (!dlopen((path + ".so").c_str(), RTLD_NOW | RTLD_LOCAL)) return Error{dlerror()};
  return std::monostate{};
}

} // namespace

OrError<std::monostate> loadTwins(const std::string& source) {
  frontend::Options compiling;
  compiling.files = {source};
  compiling.cudaPath = "none";
  compiling.wantHost = false;
  auto program = frontend::compile(compiling);
  if (!program) return program.error();
  std::string folder = (std::filesystem::temp_directory_path() / "kcheck-bench-XXXXXX").string();
  if (!mkdtemp(folder.data())) return Error{"cannot make a temporary folder"};
  OrError<std::monostate> result = std::monostate{};
  for (bool checks : {true, false}) {
    instrument::Options options;
    options.checks = checks;
    options.deferred = !std::getenv("KCHECK_BENCH_CALLS");
    auto object = instrument::instrumentDevice(*program->device, program->facts, options);
    if (!object) return object.error();
    result = load(*object, folder + (checks ? "/checked" : "/unchecked"));
    if (!result) break;
  }
  std::filesystem::remove_all(folder);
  return result;
}

Twins twinsOf(const std::string& kernel) {
  Twins twins;
  for (const abi::ModuleEntry* module : runtime::context().modules)
    for (std::uint32_t i = 0; i < module->kernelCount; ++i)
      if (module->kernels[i].name == kernel)
        (module->checked ? twins.checked : twins.unchecked) = &module->kernels[i];
  return twins;
}

} // namespace kcheck::bench
