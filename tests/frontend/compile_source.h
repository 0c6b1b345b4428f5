// Compiles a source text through the whole front end, in a temporary folder that is gone afterwards.
#pragma once

#include "frontend/frontend.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace kcheck::frontend {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kcheck-test-XXXXXX").string();
    if (!mkdtemp(pattern.data())) std::abort();
    path = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }

  std::filesystem::path path;
};

/// By default with kcheck's own headers, so that the tests need no toolkit.
inline OrError<Program> compileSource(const std::string& text, Options options = {}) {
  TemporaryFolder folder;
  options.files = {folder.write("program.cu", text)};
  if (options.cudaPath.empty()) options.cudaPath = "none";
  return compile(options);
}

/// The folder of a toolkit, for the tests that need one; empty when there is none.
inline std::string toolkitPath() {
  const char* const named = std::getenv("CUDA_PATH");
  for (const char* path : {named, "/usr/local/cuda"})
    if (path && std::filesystem::exists(std::filesystem::path(path) / "include/cuda_runtime.h")) return path;
  return {};
}

/// `7:3-12 read c[0] of c`, one line per site of the user's code.
inline std::string describeSites(const Facts& facts) {
  std::string text;
  for (const Site& site : facts.sites) {
    if (site.inSystemHeader) continue;
    text += std::to_string(site.where.line) + ":" + std::to_string(site.where.column) + "-" +
            std::to_string(site.where.endColumn);
    text += site.kind == AccessKind::Read    ? " read "
            : site.kind == AccessKind::Write ? " write "
                                             : " atomic ";
    text += site.expr + " of " + site.array + ", " + std::to_string(site.bytes) + "\n";
  }
  return text;
}

} // namespace kcheck::frontend
