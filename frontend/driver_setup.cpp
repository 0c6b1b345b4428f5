// Asks clang's driver, in this process, which compilations a CUDA file takes; compile.cpp then runs them.
#include "frontend/driver_setup.h"

#include "frontend/diagnostics.h"

#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Driver/Compilation.h>
#include <clang/Driver/Driver.h>
#include <fmt/format.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/VirtualFileSystem.h>

namespace kcheck::frontend {
namespace {

const char* const kClang = KCHECK_CLANG_RESOURCE_DIR "/../../../bin/clang++";

bool isCuda(const Options& options, const std::string& file) {
  for (std::size_t i = 0; i < options.clangArguments.size(); ++i) {
    const std::string& argument = options.clangArguments[i];
    if (argument == "-xcu" || argument == "-xcuda") return true;
    if (argument == "-x" && i + 1 < options.clangArguments.size())
      return options.clangArguments[i + 1] == "cu" || options.clangArguments[i + 1] == "cuda";
  }
  return llvm::StringSwitch<bool>(llvm::sys::path::extension(file))
      .Cases(".cc", ".cpp", ".cxx", ".C", ".c", ".c++", false)
      .Default(true);
}

/// The user's arguments without `-x LANGUAGE`, which isCuda has read, and with nvcc's ways to write -std.
Arguments userArguments(const Options& options) {
  Arguments result;
  for (std::size_t i = 0; i < options.clangArguments.size(); ++i) {
    const std::string& argument = options.clangArguments[i];
    if (argument == "-x")
      ++i;
    else if (!llvm::StringRef(argument).starts_with("-x"))
      result.push_back(argument);
  }
  return result;
}

void addCudaArguments(Arguments& arguments, const Options& options, const Toolkit& toolkit) {
  const std::string headers = KCHECK_SOURCE_HEADERS;
  arguments.insert(arguments.end(),
                   {"-x", "cuda", "--cuda-gpu-arch=" + options.arch, "-nocudalib", "-fgpu-rdc",
                    "-Wno-unknown-cuda-version", "-Xclang", "-fcuda-allow-variadic-functions", "-Xclang",
                    "-target-sdk-version=12.5", "-D__KCHECK__"});
  if (toolkit.ownHeaders()) {
    arguments.insert(arguments.end(),
                     {"-nocudainc", "-isystem", headers + "/cuda", "-include", "cuda_runtime.h"});
  } else {
    arguments.insert(arguments.end(), {"--cuda-path=" + toolkit.path, "-isystem", headers + "/shim",
                                       "-isystem", toolkit.path + "/include/cccl"});
  }
  arguments.insert(arguments.end(), {"-isystem", KCHECK_SOURCE_INCLUDE, "-include", kPrelude});
}

Arguments driverArguments(const Options& options, const Toolkit& toolkit, const std::string& file,
                          const Arguments& extra) {
  const std::string headers = KCHECK_SOURCE_HEADERS;
  Arguments arguments = {kClang,
                         "-c",
                         "--target=x86_64-unknown-linux-gnu",
                         "-resource-dir",
                         KCHECK_CLANG_RESOURCE_DIR,
                         "-std=gnu++17", // as nvcc
                         "-O2",
                         "-fno-optimize-sibling-calls",
                         "-fPIC",
                         "-Wno-register",
                         "-Wno-c++11-narrowing", // no error for nvcc
                         "-Qunused-arguments",
                         "-isystem",
                         headers + "/host"};
  if (isCuda(options, file)) {
    addCudaArguments(arguments, options, toolkit);
  } else {
    arguments.insert(arguments.end(), {"-x", "c++", "-isystem",
                                       toolkit.ownHeaders() ? headers + "/cuda" : toolkit.path + "/include"});
  }
  const Arguments user = userArguments(options);
  arguments.insert(arguments.end(), user.begin(), user.end());
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  arguments.insert(arguments.end(), {"-o", "/dev/null", "--", file});
  return arguments;
}

/// An architecture that clang would refuse by the version of a toolkit that nobody has asked about.
std::optional<Error> refusedArch(const std::string& arch) {
  constexpr unsigned kOldest = 50; // of CUDA 12
  llvm::StringRef number = arch;
  unsigned version = 0;
  if (!number.consume_front("sm_") || number.consumeInteger(10, version))
    return Error{fmt::format("`{}` names no architecture: one is sm_80, say", arch)};
  if (version >= kOldest) return std::nullopt;
  return Error{
      fmt::format("CUDA no longer compiles for {}: the oldest architecture is sm_{}", arch, kOldest)};
}

} // namespace

OrError<CompileJobs> planJobs(const Options& options, const Toolkit& toolkit, const std::string& file,
                              const Arguments& extra) {
  if (isCuda(options, file))
    if (auto error = refusedArch(options.arch)) return *error;
  const Arguments arguments = driverArguments(options, toolkit, file, extra);
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());

  DiagnosticLog log;
  auto diagnostics = makeDiagnostics(log);
  clang::driver::Driver driver(kClang, "x86_64-unknown-linux-gnu", *diagnostics, "kcheck");
  driver.setCheckInputsExist(false);
  std::unique_ptr<clang::driver::Compilation> compilation(driver.BuildCompilation(pointers));
  if (!compilation || diagnostics->hasErrorOccurred())
    return Error{fmt::format("clang does not accept the options: {}", log.firstMessage())};

  CompileJobs jobs;
  jobs.file = file;
  for (const clang::driver::Command& command : compilation->getJobs()) {
    const auto& given = command.getArguments();
    if (given.empty() || llvm::StringRef(given[0]) != "-cc1") continue;
    Arguments cc1(given.begin() + 1, given.end());
    const bool isDevice = std::find(cc1.begin(), cc1.end(), "-fcuda-is-device") != cc1.end();
    if (isDevice) cc1.push_back("-fdebug-compilation-dir=/"); // else names below this folder lose their start
    (isDevice ? jobs.device : jobs.host) = std::move(cc1);
  }
  assert(!jobs.host.empty());
  return jobs;
}

} // namespace kcheck::frontend
