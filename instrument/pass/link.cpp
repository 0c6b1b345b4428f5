// Device object, host objects and the runtime become a program. The linker's own words are condensed to one
// sentence that names what is missing.
#include "instrument/instrument.h"

#include "instrument/pass/process.h"
#include "instrument/pass/temporary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

namespace kcheck::instrument {

namespace {

/// NVIDIA's libraries run on a GPU only. Programs that name one on the command line but use what kcheck's own
/// runtime supplies link all the same; others learn which library it is.
struct GpuLibrary {
  std::string_view option; ///< after -l, up to a version or `_static`
  std::string_view prefix; ///< of its functions; empty: has none of its own
  std::string_view name;
  bool runs = false; ///< kcheck has its common functions
};
constexpr GpuLibrary kGpuLibraries[] = {
    {"cudart", "", "the CUDA runtime"},
    {"cudadevrt", "cudaCDP", "the CUDA device runtime"},
    {"culibos", "", "culibos"},
    {"cublasLt", "cublasLt", "cuBLASLt"},
    {"cublas", "cublas", "cuBLAS", true},
    {"cufft", "cufft", "cuFFT", true},
    {"curand", "curand", "cuRAND's host API", true},
    {"cusparse", "cusparse", "cuSPARSE"},
    {"cusolver", "cusolver", "cuSOLVER"},
    {"cudnn", "cudnn", "cuDNN"},
    {"nccl", "nccl", "NCCL"},
    {"npp", "npp", "NPP"},
    {"nvrtc", "nvrtc", "NVRTC"},
    {"nvjpeg", "nvjpeg", "nvJPEG"},
    {"nvToolsExt", "nvtx", "NVTX"},
    {"nvidia-ml", "nvml", "NVML"},
    {"cutensor", "cutensor", "cuTENSOR"},
    {"cuda", "cu", "the CUDA driver API"},
};

bool isGpuLibrary(std::string_view argument) {
  if (!argument.starts_with("-l")) return false;
  argument.remove_prefix(2);
  for (const GpuLibrary& library : kGpuLibraries) {
    if (!argument.starts_with(library.option)) continue;
    std::string_view rest = argument.substr(library.option.size());
    if (rest.empty() || rest.starts_with("_static") || library.option == "npp" || library.option == "cudnn")
      return true;
  }
  return false;
}

const GpuLibrary* libraryOf(std::string_view symbol) {
  for (const GpuLibrary& library : kGpuLibraries) {
    if (library.prefix.empty() || !symbol.starts_with(library.prefix)) continue;
    // `cu` alone would take any word: driver functions go on with a capital.
    if (library.prefix == "cu" && (symbol.size() < 3 || !std::isupper(static_cast<unsigned char>(symbol[2]))))
      continue;
    return &library;
  }
  return nullptr;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> shown(names.begin(), names.begin() + std::min(names.size(), kShown));
  std::string text = fmt::format("`{}`", fmt::join(shown, "`, `"));
  return names.size() > kShown ? fmt::format("{} and {} more", text, names.size() - kShown) : text;
}

std::string contentOf(int file) {
  std::string text(static_cast<std::size_t>(std::max<off_t>(lseek(file, 0, SEEK_END), 0)), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

Error condense(const std::string& text) {
  std::vector<std::string> missing, libraries, others;
  auto addOnce = [](std::vector<std::string>& list, std::string value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(std::move(value));
  };
  if (const std::string full = std::strerror(ENOSPC); text.find(full) != std::string::npos)
    return Error{fmt::format("cannot link the program: {}; set TMPDIR to a folder with room", full)};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto after = [&](std::string_view marker) -> std::string {
      auto at = line.find(marker);
      return at == std::string::npos ? "" : line.substr(at + marker.size());
    };
    if (std::string symbol = after("undefined symbol: "); !symbol.empty())
      addOnce(missing, symbol);
    else if (std::string library = after("unable to find library -l"); !library.empty())
      addOnce(libraries, library);
    else if (std::string other = after("error: "); !other.empty())
      addOnce(others, other);
  }
  if (!libraries.empty())
    return Error{
        fmt::format("cannot link the program: there is no library {}; is a -L missing?", listed(libraries))};
  for (const std::string& symbol : missing)
    if (const GpuLibrary* library = libraryOf(symbol))
      return Error{fmt::format("the program calls {} of {}, {}", listed({symbol}), library->name,
                               library->runs ? "of which kcheck runs the common functions only"
                                             : "which kcheck cannot run without a GPU")};
  if (!missing.empty())
    return Error{fmt::format("cannot link the program: nothing defines {}; is a source file or a -l missing?",
                             listed(missing))};
  if (!others.empty()) return Error{fmt::format("cannot link the program: {}", others.front())};
  return Error{"cannot link the program: the linker failed without saying why"};
}

} // namespace

bool librariesHaveMain(const Options& options) {
  ProcessOptions linker;
  linker.arguments = {KCHECK_CLANG, "-fuse-ld=lld", "-o", "/dev/null"};
  const std::size_t before = linker.arguments.size();
  for (const std::string& argument : options.linkArguments)
    if (!isGpuLibrary(argument)) linker.arguments.push_back(argument);
  if (linker.arguments.size() == before) return false;
  linker.errorFile = memfd_create("messages", MFD_CLOEXEC);
  auto ended = runProcess(linker);
  const std::string messages = linker.errorFile < 0 ? "" : contentOf(linker.errorFile);
  if (linker.errorFile >= 0) close(linker.errorFile);
  if (!ended || ended->interruptedBy || ended->signal != 0) return false;
  // What the library itself wants may be in the program.
  return ended->exitStatus == 0 || (messages.find("undefined symbol: ") != std::string::npos &&
                                    messages.find("undefined symbol: main\n") == std::string::npos);
}

/// Whether something is linked that kcheck has not compiled and that is not of the system: it may order the
/// threads of the program in ways that are not seen.
static bool hasForeignCode(const Options& options) {
  constexpr std::string_view known[] = {"-lm", "-lpthread", "-pthread", "-ldl", "-lrt", "-lstdc++"};
  return !std::ranges::all_of(options.linkArguments, [&](const std::string& argument) {
    return argument.starts_with("-L") || isGpuLibrary(argument) ||
           std::ranges::find(known, argument) != std::end(known);
  });
}

OrError<std::monostate> linkProgram(const std::vector<std::string>& objects, const Options& options,
                                    const std::string& path, int* interruptedBy) {
  ProcessOptions linker;
  linker.arguments = {KCHECK_CLANG, "-fuse-ld=lld", "-pthread", "-o", path,
                      // a full disk is then an error of a write, not a bus error in the linker
                      "-Wl,--no-mmap-output-file"};
  std::vector<std::string_view> frees = {"free"}; // memory_api.cpp
  const bool sanitizes = std::ranges::any_of(
      options.linkArguments, [](const std::string& argument) { return argument.starts_with("-fsanitize="); });
  if (!sanitizes) frees.insert(frees.end(), {"_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm"}); // else theirs
  for (std::string_view function : frees) linker.arguments.push_back(fmt::format("-Wl,--wrap={}", function));
  // host_thread_api.cpp
  if (!hasForeignCode(options))
    for (const char* option : {"-Wl,--undefined=pthread_create", "-Wl,--defsym=kcheckOnlyOwnCode=1"})
      linker.arguments.emplace_back(option);
  std::vector<std::string> files;
  for (const std::string& object : objects) {
    files.push_back(fmt::format("{}.{}.o", path, files.size()));
    if (auto written = writeFile(files.back(), object); !written) return written.error();
  }
  linker.arguments.insert(linker.arguments.end(), files.begin(), files.end());
  for (const std::string& argument : options.linkArguments)
    if (!isGpuLibrary(argument)) linker.arguments.push_back(argument);
  for (std::string_view rest : {KCHECK_RUNTIME, "-ldl", "-lm"}) linker.arguments.emplace_back(rest);
#ifdef KCHECK_LINK_SANITIZERS
  linker.arguments.emplace_back("-fsanitize=address,undefined");
#endif

  // In memory: on a full disk the linker could not even say so.
  linker.errorFile = memfd_create("messages", MFD_CLOEXEC);
  auto ended = runProcess(linker);
  std::string messages = linker.errorFile < 0 ? "" : contentOf(linker.errorFile);
  if (linker.errorFile >= 0) close(linker.errorFile);
  std::error_code ignored;
  for (const std::string& file : files) std::filesystem::remove(file, ignored);
  if (!ended) return ended.error();
  if (ended->interruptedBy) {
    if (!interruptedBy) raise(ended->interruptedBy);
    *interruptedBy = ended->interruptedBy;
    return Error{"interrupted"};
  }
  if (ended->exitStatus != 0 || ended->signal != 0) return condense(messages);
  return std::monostate{};
}

} // namespace kcheck::instrument
