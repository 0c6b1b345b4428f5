// Makes and finds precompiled headers. Their names tell all that decides what is in them: options, macros
// that headers ask about, and size and time of the headers that change with an installation; clang looks at
// those of all others itself.
#include "frontend/precompiled.h"

#include "frontend/nvcc_semantics.h"
#include "frontend/register_names.h"
#include "frontend/source_text.h"
#include "frontend/user_macros.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Basic/Version.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <fmt/format.h>
#include <llvm/Support/CachePruning.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Process.h>
#include <llvm/Support/SHA256.h>

#include <set>

namespace kcheck::frontend {
namespace {

constexpr const char* kIncludesFile = "kcheck-headers.cu";

std::string cacheFolder() {
  if (auto given = llvm::sys::Process::GetEnv("KCHECK_CACHE")) return *given == "none" ? "" : *given;
  llvm::SmallString<128> folder;
  if (!llvm::sys::path::cache_directory(folder) || !llvm::sys::path::is_absolute(folder)) return {};
  llvm::sys::path::append(folder, "kcheck");
  return folder.str().str();
}

/// What is precompiled: kcheck's own headers, and those that the file begins with.
struct Wanted {
  const CompileJobs& jobs;
  const Arguments& cc1;
  const AdjustInvocation& adjust;
  std::string text; ///< includes the file's

  bool isOwnOnly() const { return text.empty(); }
};

/// A macro that means nothing to kcheck's own headers.
bool isUserMacro(llvm::StringRef macro) {
  return !configuresHeaders(macro.take_until([](char c) { return c == '=' || c == '('; }));
}

/// Whether the option, or the two of which it is the first, says something of one file alone.
bool isOfOneFile(llvm::StringRef option) {
  return option == "-main-file-name" || option == "-o" || option == "-fcuda-include-gpubinary" ||
         option.starts_with("-cuid=") || option.starts_with("-fdebug-compilation-dir=") ||
         option.starts_with("-fcoverage-compilation-dir=");
}

bool takesValue(llvm::StringRef option) {
  return option == "-D" || option == "-main-file-name" || option == "-o" || option == "-include" ||
         option == "-fcuda-include-gpubinary";
}

void addFile(llvm::SHA256& hash, llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status)) return;
  hash.update(fmt::format("{} {} {}\n", path.str(), status.getSize(),
                          status.getLastModificationTime().time_since_epoch().count()));
}

std::string nameOf(const Wanted& wanted) {
  llvm::SHA256 hash;
  hash.update(clang::getClangFullVersion());
  bool isOwn = true, searchesFolders = false; // up to kcheck's prelude; from then on the user's
  for (std::size_t i = 0; i < wanted.cc1.size(); ++i) {
    const std::string& option = wanted.cc1[i];
    if (option == wanted.jobs.file) continue;
    const std::string value = takesValue(option) && i + 1 < wanted.cc1.size() ? wanted.cc1[++i] : "";
    if (isOfOneFile(option) || (option == "-include" && !isOwn)) continue;
    if (option == "-D" && wanted.isOwnOnly() && isUserMacro(value)) continue;
    if (option == "-include" && value == kPrelude) isOwn = false;
    searchesFolders |= option == "-I" || option == "-iquote";
    hash.update(fmt::format("{}\n{}\n", option, value));
    if (llvm::sys::path::is_absolute(option)) { // a folder of headers
      addFile(hash, option + "/cuda_runtime.h");
      addFile(hash, option + "/kcheck_prelude.h");
    }
  }
  hash.update(wanted.text);
  for (const auto& [header, text] : wanted.jobs.replaced) hash.update(header + text);
  llvm::SmallString<128> here;
  if (searchesFolders && !llvm::sys::fs::current_path(here)) hash.update(here);
  std::string name = "llvmcache-"; // what LLVM looks for when it clears old files away
  for (const std::uint8_t byte : hash.final()) name += fmt::format("{:02x}", byte);
  return name + ".pch";
}

/// Headers that are read in no time, or have been read before the file begins.
bool isLight(const std::string& header) {
  static constexpr const char* kLight[] = {
      "cassert", "assert.h", "cmath",   "math.h",   "cstdint", "stdint.h", "cstdio", "stdio.h",
      "cstdlib", "stdlib.h", "cstring", "string.h", "ctime",   "time.h",   "cuda.h", "cuda_runtime.h"};
  return llvm::is_contained(kLight, header);
}

/// The headers of C++, the toolkit and the system that the file begins with.
std::string includesOf(const CompileJobs& jobs, const Arguments& cc1) {
  std::set<std::string> headers;
  for (const std::string& header : leadingHeaders(jobs.text)) {
    bool isUsers = false, isSystems = false;
    for (std::size_t i = 1; i < cc1.size(); ++i) {
      const llvm::StringRef option = cc1[i - 1];
      if (option != "-I" && !option.ends_with("-isystem")) continue;
      (option == "-I" ? isUsers : isSystems) |= llvm::sys::fs::exists(cc1[i] + "/" + header);
    }
    if (isUsers || !isSystems) break;
    if (!isLight(header)) headers.insert(header);
  }
  std::string text;
  for (const std::string& header : headers) text += fmt::format("#include <{}>\n", header);
  return text;
}

bool isOwnLast(const std::string& include) { return include == kPrelude; }

/// Takes out what belongs to one file; only kcheck's own headers are left to be included.
void keepOwnHeaders(clang::PreprocessorOptions& options, bool isOwnOnly) {
  if (isOwnOnly)
    llvm::erase_if(options.Macros,
                   [](const auto& macro) { return isUserMacro(macro.first) && !macro.second; });
  const auto last = llvm::find_if(options.Includes, isOwnLast);
  options.Includes.erase(last == options.Includes.end() ? last : last + 1, options.Includes.end());
  setUserMacrosAside(options, kPrelude);
}

class Precompile : public clang::GeneratePCHAction {
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef file) override {
    if (compiler.getLangOpts().CUDAIsDevice) setRegisterNamesAside(compiler.getPreprocessor());
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    consumers.push_back(makeNvccSemantics());
    consumers.push_back(clang::GeneratePCHAction::CreateASTConsumer(compiler, file));
    if (!consumers.back()) return nullptr;
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }
};

bool precompile(const Wanted& wanted, const std::string& path) {
  DiagnosticLog log;
  auto invocation = invocationOf(wanted.jobs, wanted.cc1, log, wanted.adjust);
  if (!invocation) return false;
  clang::PreprocessorOptions& options = invocation->getPreprocessorOpts();
  keepOwnHeaders(options, wanted.isOwnOnly());
  options.addRemappedFile(kIncludesFile,
                          llvm::MemoryBuffer::getMemBufferCopy(wanted.text, kIncludesFile).release());
  clang::FrontendOptions& frontend = invocation->getFrontendOpts();
  frontend.Inputs = {clang::FrontendInputFile(kIncludesFile, frontend.Inputs.front().getKind())};
  frontend.ProgramAction = clang::frontend::GeneratePCH;
  frontend.OutputFile = path;
  Precompile action;
  return runAction(std::move(invocation), log, action);
}

void clearOldFilesAway(const std::string& folder) {
  llvm::CachePruningPolicy policy;
  policy.Interval = std::chrono::seconds(0);
  policy.Expiration = std::chrono::hours(24 * 30);
  policy.MaxSizeBytes = std::uint64_t(512) << 20;
  llvm::pruneCache(folder, policy);
}

/// Leaves a mark: headers that are wanted once are not worth the writing.
bool isFirstTime(const std::string& mark) {
  if (llvm::sys::fs::exists(mark)) return false;
  std::error_code error;
  llvm::raw_fd_ostream file(mark, error);
  return true;
}

/// Sets the scope of visitors to what is not precompiled.
class SetScope : public clang::ASTConsumer {
  void HandleTranslationUnit(clang::ASTContext& ast) override {
    std::vector<clang::Decl*> own;
    for (clang::Decl* decl : ast.getTranslationUnitDecl()->noload_decls()) own.push_back(decl);
    ast.setTraversalScope(own);
  }
};

} // namespace

std::string precompiledHeaders(const CompileJobs& jobs, const Arguments& cc1,
                               const AdjustInvocation& adjust) {
  if (llvm::find_if(cc1, isOwnLast) == cc1.end()) return {};
  const std::string folder = cacheFolder();
  if (folder.empty() || llvm::sys::fs::create_directories(folder)) return {};
  const Wanted wanted{jobs, cc1, adjust, includesOf(jobs, cc1)};
  std::string path = folder + "/" + nameOf(wanted);
  if (llvm::sys::fs::exists(path)) return path;
  if (llvm::sys::fs::access(folder, llvm::sys::fs::AccessMode::Write)) return {};
  if (isFirstTime(path + ".wanted")) return {};
  clearOldFilesAway(folder);
  return precompile(wanted, path) ? path : "";
}

void beginBehind(const std::string& precompiled, clang::CompilerInvocation& invocation) {
  clang::PreprocessorOptions& options = invocation.getPreprocessorOpts();
  const auto last = llvm::find_if(options.Includes, isOwnLast);
  options.Includes.erase(options.Includes.begin(), last + 1);
  options.ImplicitPCHInclude = precompiled;
}

std::unique_ptr<clang::ASTConsumer> withoutPrecompiled(std::unique_ptr<clang::ASTConsumer> consumer) {
  std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
  consumers.push_back(std::make_unique<SetScope>());
  consumers.push_back(std::move(consumer));
  return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
}

} // namespace kcheck::frontend
