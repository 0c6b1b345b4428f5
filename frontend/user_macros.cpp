#include "frontend/user_macros.h"

#include <fmt/format.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <set>

namespace kcheck::frontend {
namespace {

std::string addFile(clang::PreprocessorOptions& options, const char* name, const std::string& text) {
  std::string path = fmt::format("{}/shim/{}", KCHECK_SOURCE_HEADERS, name);
  options.addRemappedFile(path, llvm::MemoryBuffer::getMemBufferCopy(text, path).release());
  return path;
}

} // namespace

bool configuresHeaders(llvm::StringRef name) {
  for (const char* prefix : {"_", "CUDA", "CUB", "THRUST", "CCCL", "LIBCUDACXX", "NV", "CU_"})
    if (name.starts_with(prefix)) return true;
  return false;
}

void setUserMacrosAside(clang::PreprocessorOptions& options, const std::string& lastOwn) {
  const auto last = std::find(options.Includes.begin(), options.Includes.end(), lastOwn);
  if (last == options.Includes.end()) return;
  std::set<std::string> names;
  for (const auto& [macro, isUndefined] : options.Macros) {
    const std::string name =
        llvm::StringRef(macro).take_until([](char c) { return c == '=' || c == '('; }).str();
    if (!isUndefined && !configuresHeaders(name)) names.insert(name);
  }
  if (names.empty()) return;
  std::string aside, back;
  for (const std::string& name : names) {
    aside += fmt::format("#pragma push_macro(\"{0}\")\n#undef {0}\n", name);
    back += fmt::format("#pragma pop_macro(\"{}\")\n", name);
  }
  options.Includes.insert(last + 1, addFile(options, "kcheck_put_back.h", back));
  options.Includes.insert(options.Includes.begin(), addFile(options, "kcheck_set_aside.h", aside));
}

} // namespace kcheck::frontend
