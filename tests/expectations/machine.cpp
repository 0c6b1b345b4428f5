// Looks for the toolkit's programs where they usually are, and on the path.
#include "machine.h"

#include "child.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace kcheck::expectations {

namespace {

namespace fs = std::filesystem;

/// The program in one of the toolkit's folders or on the path.
std::string find(const std::string& program) {
  std::vector<fs::path> folders;
  auto addToolkit = [&](const fs::path& toolkit) {
    folders.push_back(toolkit / "bin");
    folders.push_back(toolkit / "compute-sanitizer");
  };
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char* value = std::getenv(variable)) addToolkit(value);
  addToolkit("/usr/local/cuda");
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) folders.emplace_back(folder);
  for (const fs::path& folder : folders)
    if (access((folder / program).c_str(), X_OK) == 0 && fs::is_regular_file(folder / program))
      return folder / program;
  return "";
}

} // namespace

std::string findNvcc() { return find("nvcc"); }
std::string findComputeSanitizer() { return find("compute-sanitizer"); }

std::string gpuName() {
  std::string smi = find("nvidia-smi");
  if (smi.empty()) return "";
  ChildResult child = runChild({smi, "--query-gpu=name,driver_version", "--format=csv,noheader"}, 30);
  if (child.timedOut || child.status != 0) return "";
  return child.output.substr(0, child.output.find('\n'));
}

} // namespace kcheck::expectations
