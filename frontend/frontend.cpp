// The front end on one screen: check the files, find the toolkit, compile device and host side of every file,
// link the device modules, join the facts.
#include "frontend/frontend.h"

#include "frontend/device_side.h"
#include "frontend/host_side.h"
#include "frontend/link_files.h"

#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

namespace kcheck::frontend {

Program::Program() = default;
Program::~Program() { device.reset(); } // before its context
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&& other) noexcept {
  device.reset();
  context = std::move(other.context);
  device = std::move(other.device);
  facts = std::move(other.facts);
  hostObjects = std::move(other.hostObjects);
  return *this;
}

namespace {

struct FileWork {
  CompileJobs jobs;
  DiagnosticLog deviceLog, hostLog;
  DeviceSide device;
  HostSide host;
  std::vector<Kernel> kernels;
  bool deviceOk = true, hostOk = true;
};

void initialiseTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

std::optional<Error> checkFile(const std::string& file) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(file, status))
    return Error{
        fmt::format("cannot read '{}': {}", file,
                    error == std::errc::no_such_file_or_directory ? "no such file" : error.message())};
  if (llvm::sys::fs::is_directory(status))
    return Error{fmt::format("'{}' is a directory, not a CUDA file", file)};
  auto content = llvm::MemoryBuffer::getFile(file);
  if (!content) return Error{fmt::format("cannot read '{}': {}", file, content.getError().message())};
  const llvm::StringRef text = (*content)->getBuffer();
  if (text.trim().empty()) return Error{fmt::format("'{}' is empty", file)};
  if (text.substr(0, 65536).contains('\0'))
    return Error{fmt::format("'{}' is a binary file, not CUDA source", file)};
  return std::nullopt;
}

/// Runs all tasks on as many threads as there are cores.
void runAll(const std::vector<std::function<void()>>& tasks) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) tasks[i]();
  };
  std::vector<std::thread> threads;
  const std::size_t count =
      std::min<std::size_t>(tasks.size(), std::max(1u, std::thread::hardware_concurrency()));
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

void compileAll(std::vector<FileWork>& files, bool wantHost) {
  const HostWishes wishes{wantHost, files.size() == 1};
  std::vector<std::function<void()>> tasks;
  for (FileWork& file : files) {
    if (!file.jobs.device.empty())
      tasks.push_back([&] { file.deviceOk = compileDevice(file.jobs, file.deviceLog, file.device); });
    tasks.push_back([&, wishes] { file.hostOk = compileHost(file.jobs, wishes, file.hostLog, file.host); });
  }
  runAll(tasks);
}

std::optional<Error> reportErrors(const std::vector<FileWork>& files) {
  std::string failed;
  for (const FileWork& file : files) {
    if (file.deviceOk && file.hostOk) continue;
    printDiagnostics({&file.deviceLog, &file.hostLog});
    failed += (failed.empty() ? "'" : ", '") + file.jobs.file + "'";
  }
  if (failed.empty()) return std::nullopt;
  return Error{failed + (failed.find(", '") == std::string::npos ? " does" : " do") + " not compile"};
}

/// The kernel that `symbol` of a host file means: a static kernel's device name has the file's mark at its
/// end.
std::string deviceSymbol(const std::string& symbol, const std::vector<Kernel>& ofFile) {
  for (const Kernel& kernel : ofFile)
    if (kernel.symbol == symbol) return symbol;
  for (const Kernel& kernel : ofFile)
    if (llvm::StringRef(kernel.symbol).starts_with(symbol + "__")) return kernel.symbol;
  return symbol;
}

void joinHostFacts(HostSide host, const std::vector<Kernel>& ofFile, Facts& facts) {
  const std::size_t base = facts.allocations.size();
  for (Allocation& allocation : host.allocations) facts.allocations.push_back(std::move(allocation));
  for (Launch& launch : host.launches) {
    launch.kernel = deviceSymbol(launch.kernel, ofFile);
    for (Argument& argument : launch.arguments)
      if (argument.allocation) *argument.allocation += base;
    facts.launches.push_back(std::move(launch));
  }
  facts.hasMain |= host.hasMain;
}

} // namespace

OrError<Program> compile(const Options& options) {
  if (options.files.empty()) return Error{"no file to check"};
  for (const std::string& file : options.files)
    if (auto error = checkFile(file)) return *error;
  OrError<Toolkit> toolkit = findToolkit(options.cudaPath);
  if (!toolkit) return toolkit.error();

  initialiseTargets();
  std::vector<FileWork> files(options.files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    OrError<CompileJobs> jobs = planJobs(options, *toolkit, options.files[i], {});
    if (!jobs) return jobs.error();
    files[i].jobs = std::move(*jobs);
  }
  compileAll(files, options.wantHost);
  if (auto error = reportErrors(files)) return *error;

  Program program;
  program.facts.files = options.files;
  std::vector<DeviceSide> sides;
  for (FileWork& file : files) {
    file.kernels = file.device.kernels;
    if (file.device.module) sides.push_back(std::move(file.device));
  }
  if (sides.empty()) {
    program.context = std::make_unique<llvm::LLVMContext>();
    program.device = std::make_unique<llvm::Module>("none", *program.context);
  } else if (auto linked = linkDevice(std::move(sides), program); !linked) {
    return linked.error();
  }
  for (FileWork& file : files) {
    if (options.wantHost) program.hostObjects.push_back(std::move(file.host.object));
    joinHostFacts(std::move(file.host), file.kernels, program.facts);
  }
  return program;
}

} // namespace kcheck::frontend
