// Looks for the CUDA toolkit. Only its headers matter: kcheck runs neither nvcc nor ptxas.
#include "frontend/toolkit.h"

#include <fmt/format.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Process.h>
#include <llvm/Support/Program.h>

namespace kcheck::frontend {
namespace {

bool holdsToolkit(const std::string& path) {
  return !path.empty() && llvm::sys::fs::exists(path + "/include/cuda_runtime.h");
}

std::string folderOfNvcc() {
  llvm::ErrorOr<std::string> nvcc = llvm::sys::findProgramByName("nvcc");
  if (!nvcc) return {};
  llvm::SmallString<256> real;
  if (llvm::sys::fs::real_path(*nvcc, real)) return {};
  return llvm::sys::path::parent_path(llvm::sys::path::parent_path(real)).str();
}

} // namespace

OrError<Toolkit> findToolkit(const std::string& wanted) {
  if (wanted == "none") return Toolkit{};
  if (!wanted.empty()) {
    if (holdsToolkit(wanted)) return Toolkit{wanted};
    return Error{
        fmt::format("'{}' is no CUDA toolkit: it has no include/cuda_runtime.h (--cuda-path=none uses "
                    "the headers that kcheck ships)",
                    wanted)};
  }
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
    if (auto value = llvm::sys::Process::GetEnv(variable); value && holdsToolkit(*value))
      return Toolkit{*value};
  if (holdsToolkit("/usr/local/cuda")) return Toolkit{"/usr/local/cuda"};
  if (std::string path = folderOfNvcc(); holdsToolkit(path)) return Toolkit{path};
  return Toolkit{};
}

} // namespace kcheck::frontend
