// The front end on one screen: check the files, find the toolkit, compile device and host side of every file,
// link the device modules, join the facts.
#include "frontend/frontend.h"

#include "frontend/device_side.h"
#include "frontend/host_side.h"
#include "frontend/link_files.h"
#include "frontend/old_collectives.h"
#include "frontend/shared_limit.h"
#include "frontend/source_text.h"

#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <iterator>
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
  findings = std::move(other.findings);
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
    llvm::CrashRecoveryContext::Enable();
  });
}

OrError<std::string> readSource(const std::string& file) {
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
  return text.str();
}

/// Headers of clang and the toolkit with another text. Clang's own header wants the toolkit's `cuda.h`, which
/// a user's of that name would hide from it: it looks beside itself first.
std::vector<std::pair<std::string, std::string>> replacedHeaders(const Toolkit& toolkit) {
  if (toolkit.ownHeaders()) return {};
  std::vector<std::pair<std::string, std::string>> replaced{
      {KCHECK_CLANG_RESOURCE_DIR "/include/cuda.h", "#include \"" + toolkit.path + "/include/cuda.h\"\n"}};
  const std::string header = toolkit.path + "/include/driver_types.h";
  auto content = llvm::MemoryBuffer::getFile(header);
  std::string text = content ? restoreDeviceProperties((*content)->getBuffer().str()) : "";
  if (!text.empty()) replaced.emplace_back(header, std::move(text));
  return replaced;
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

/// Shared arrays of no elements: the numbers of the instance are none that anybody would take.
bool hasEmptyArrays(const llvm::Module& module) {
  constexpr unsigned kShared = 3;
  return llvm::any_of(module.globals(), [&](const llvm::GlobalVariable& variable) {
    return variable.getAddressSpace() == kShared && !variable.isDeclaration() &&
           module.getDataLayout().getTypeAllocSize(variable.getValueType()).isZero();
  });
}

/// Whether the file's device side compiles with this at its end, which it keeps then.
bool takes(FileWork& file, const std::string& declaration, DeviceSide& side) {
  CompileJobs jobs = file.jobs;
  jobs.text += "\n" + declaration;
  DiagnosticLog log; // what is wrong with an instance of kcheck's own is nobody's concern
  DeviceSide made;
  if (!compileDevice(jobs, log, made) || hasEmptyArrays(*made.module)) return false;
  file.jobs.text = std::move(jobs.text);
  std::swap(side, made); // a module goes before its context
  return true;
}

/// Makes instances of the kernels that are templates and have none, where nothing but kernels is there. Those
/// of which none can be made.
std::vector<Kernel> instantiateUnused(std::vector<FileWork>& files) {
  std::vector<Kernel> left;
  if (llvm::any_of(files, [](const FileWork& file) { return lookAt(file.jobs.text).definesMain; }))
    return left;
  for (FileWork& file : files) {
    unsigned triesLeft = 32; // each compiles the file
    const std::vector<KernelTemplate> templates = std::move(file.device.unused);
    for (const auto& [number, made] : llvm::enumerate(templates)) {
      const auto works = [&](const std::string& instance) {
        if (triesLeft == 0) return false;
        --triesLeft;
        return takes(file, instance, file.device);
      };
      const bool isMade = made.canBeNamed && llvm::any_of(instancesOf(made, number), works);
      if (isMade) continue;
      Kernel& kernel = left.emplace_back();
      kernel.symbol = kernel.name = made.name;
      kernel.where = {file.jobs.file, made.line, made.column, made.column};
    }
  }
  return left;
}

Error launchError(const DiagnosticLog& log, const std::string& file,
                  const std::vector<LaunchLine>& launches) {
  const auto found =
      llvm::find_if(launches, [&](const LaunchLine& launch) { return launch.line == log.launchErrorLine; });
  const LaunchLine& launch = found == launches.end() ? launches.front() : *found;
  return Error{fmt::format("the launch line '{}' does not fit '{}': {}", launch.text, file, log.launchError)};
}

std::optional<Error> reportErrors(const Options& options, const std::vector<FileWork>& files,
                                  const std::vector<LaunchLine>& launches) {
  std::string failed;
  for (const FileWork& file : files) {
    if (file.deviceOk && file.hostOk) continue;
    for (const DiagnosticLog* log : {&file.deviceLog, &file.hostLog})
      if (!log->launchError.empty()) return launchError(*log, file.jobs.file, launches);
    if (!options.isOwnLaunch) printDiagnostics({&file.deviceLog, &file.hostLog});
    failed += (failed.empty() ? "'" : ", '") + file.jobs.file + "'";
  }
  if (failed.empty()) return std::nullopt;
  return Error{failed + (failed.find(", '") == std::string::npos ? " does" : " do") + " not compile"};
}

/// Appends a main for the launch lines to the file that has their kernels.
OrError<std::vector<LaunchLine>> appendLaunches(const Options& options, std::vector<FileWork>& files) {
  std::vector<LaunchLine> launches;
  if (options.launchLines.empty()) return launches;
  for (const FileWork& file : files)
    if (lookAt(file.jobs.text).definesMain)
      return Error{fmt::format("'{}' has a main of its own: launch lines are for programs without one",
                               file.jobs.file)};
  FileWork* target = nullptr;
  for (std::size_t i = 0; i < options.launchLines.size(); ++i) {
    OrError<LaunchLine> launch = parseLaunchLine(options.launchLines[i]);
    if (!launch) return launch.error();
    const auto home = llvm::find_if(
        files, [&](const FileWork& file) { return mentionsKernel(file.jobs.text, launch->kernel); });
    if (home == files.end())
      return Error{fmt::format("the launch line '{}' names the kernel '{}', which no file has", launch->text,
                               launch->kernel)};
    if (target && target != &*home)
      return Error{"launch lines for kernels of different files are not supported: give one file at a time"};
    target = &*home;
    placeLaunchLine(*launch, target->jobs.file, target->jobs.text, i);
    launches.push_back(std::move(*launch));
  }
  target->jobs.text += launchMain(launches, options.isOwnLaunch);
  return launches;
}

/// Facts of a launch line's main speak of the kernel's parameters and of the text of the line.
void nameLaunchFacts(const std::vector<LaunchLine>& launches, Facts& facts) {
  for (const LaunchLine& line : launches) {
    const auto found = llvm::find_if(facts.launches, [&](const Launch& launch) {
      return launch.where.file == line.file && launch.where.line == line.line &&
             launch.where.column == line.column;
    });
    if (found == facts.launches.end()) continue;
    Launch& launch = *found;
    launch.origin = LaunchOrigin::Annotation;
    launch.where = {line.file, line.line, line.column, line.column + unsigned(line.text.size())};
    const Kernel* kernel = facts.kernel(launch.kernel);
    for (std::size_t i = 0; i < std::min(launch.arguments.size(), line.arguments.size()); ++i) {
      launch.arguments[i].text = line.arguments[i].text;
      if (!launch.arguments[i].allocation) continue;
      Allocation& allocation = facts.allocations[*launch.arguments[i].allocation];
      const unsigned column = line.column + unsigned(line.arguments[i].offset);
      allocation.where = {line.file, line.line, column, column + unsigned(line.arguments[i].text.size())};
      if (kernel && i < kernel->parameters.size() && !kernel->parameters[i].name.empty())
        allocation.name = kernel->parameters[i].name;
    }
  }
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
  facts.hostVariables.merge(host.hostVariables);
  std::ranges::move(host.ignoredCalls, std::back_inserter(facts.ignoredCalls));
  facts.hasMain |= host.hasMain;
}

} // namespace

OrError<Program> compile(const Options& options) {
  if (options.files.empty()) return Error{"no file to check"};
  OrError<Toolkit> toolkit = findToolkit(options.cudaPath);
  if (!toolkit) return toolkit.error();
  initialiseTargets();
  const auto replaced = replacedHeaders(*toolkit);
  std::vector<FileWork> files(options.files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    OrError<std::string> text = readSource(options.files[i]);
    if (!text) return text.error();
    OrError<CompileJobs> jobs = planJobs(options, *toolkit, options.files[i], shimsFor(*text));
    if (!jobs) return jobs.error();
    files[i].jobs = std::move(*jobs);
    files[i].jobs.replaced = replaced;
    files[i].jobs.text = adaptToClang(*text);
    files[i].jobs.userText = files[i].jobs.text.size();
  }
  OrError<std::vector<LaunchLine>> launches = appendLaunches(options, files);
  if (!launches) return launches.error();
  compileAll(files, options.wantHost);
  if (auto error = reportErrors(options, files, *launches)) return *error;

  Program program;
  program.unchecked = instantiateUnused(files);
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
  if (auto error = oldCollective(*program.device, options.arch)) return *error;
  if (auto error = tooMuchShared(*program.device, program.facts)) return *error;
  for (FileWork& file : files) {
    if (options.wantHost) program.hostObjects.push_back(std::move(file.host.object));
    llvm::append_range(program.findings, file.host.findings);
    joinHostFacts(std::move(file.host), file.kernels, program.facts);
  }
  nameLaunchFacts(*launches, program.facts);
  return program;
}

} // namespace kcheck::frontend
