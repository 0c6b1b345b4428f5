// Renders clang's diagnostics into a log. Colour only where stderr is a terminal and NO_COLOR is not set.
#include "frontend/diagnostics.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/DiagnosticIDs.h>
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Support/Process.h>
#include <llvm/Support/raw_ostream.h>

#include <set>

namespace kcheck::frontend {
namespace {

bool wantColour() {
  return llvm::sys::Process::StandardErrIsDisplayed() && !llvm::sys::Process::GetEnv("NO_COLOR");
}

llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> makeOptions() {
  llvm::IntrusiveRefCntPtr options = new clang::DiagnosticOptions;
  options->ShowColors = wantColour();
  return options;
}

/// Of cooperative_groups, whose headers leave them out for kcheck.
bool isOfClusters(llvm::StringRef sentence) {
  return sentence.contains("this_cluster'") || sentence.contains("cluster_group'") ||
         sentence.contains("'__cluster");
}

class LogConsumer : public clang::DiagnosticConsumer {
public:
  explicit LogConsumer(DiagnosticLog& log)
      : log(log), stream(text), options(makeOptions()), printer(stream, options.get()) {
    stream.enable_colors(options->ShowColors);
  }

  void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor* preprocessor) override {
    printer.BeginSourceFile(language, preprocessor);
  }
  void EndSourceFile() override { printer.EndSourceFile(); }

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    text.clear();
    printer.HandleDiagnostic(level, info);
    if (level == clang::DiagnosticsEngine::Note && !log.rendered.empty()) {
      log.rendered.back() += text;
      return;
    }
    log.rendered.push_back(text);
    llvm::SmallString<128> sentence;
    info.FormatDiagnostic(sentence);
    log.plain.push_back(sentence.str().str());
    if (info.getID() == clang::diag::err_ref_bad_target && sentence.starts_with("reference to __global__ "))
      addOnce("note: kernels that launch kernels (dynamic parallelism) are not supported\n");
    if (info.getID() == clang::diag::err_shared_var_init) {
      log.hasSharedObject = true;
      addOnce(
          "note: shared memory begins without values: let one thread assign them, then __syncthreads()\n");
    }
    if (isOfClusters(sentence))
      addOnce("note: clusters of thread blocks are not supported: kcheck's GPU is an sm_80, which has none; "
              "code for "
              "sm_90 alone can stand in #ifndef __KCHECK__\n");
    if (sentence == "no template named 'texture'" || sentence == "unknown type name 'texture'")
      addOnce("note: CUDA 12 took texture references away: make a texture object (cudaCreateTextureObject), "
              "pass the cudaTextureObject_t to the kernel, and read it with tex1Dfetch<float>(object, i) "
              "and the like\n");
    if (log.launchError.empty() && isInLaunchMain(info)) {
      log.launchError = log.plain.back();
      log.launchErrorLine = info.getSourceManager().getPresumedLoc(info.getLocation()).getLine();
    }
  }

private:
  /// Of several errors the first one says it.
  void addOnce(const std::string& note) {
    if (said.insert(note).second) log.rendered.back() += note;
  }

  bool isInLaunchMain(const clang::Diagnostic& info) const {
    if (!info.hasSourceManager() || info.getLocation().isInvalid()) return false;
    const clang::SourceManager& sources = info.getSourceManager();
    const auto [file, offset] = sources.getDecomposedExpansionLoc(info.getLocation());
    return file == sources.getMainFileID() && offset >= log.userText;
  }

  DiagnosticLog& log;
  std::set<std::string> said;
  std::string text;
  llvm::raw_string_ostream stream;
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options;
  clang::TextDiagnosticPrinter printer;
};

} // namespace

clang::DiagnosticConsumer* makeDiagnosticConsumer(DiagnosticLog& log) { return new LogConsumer(log); }

llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> makeDiagnostics(DiagnosticLog& log) {
  auto engine = llvm::makeIntrusiveRefCnt<clang::DiagnosticsEngine>(
      llvm::makeIntrusiveRefCnt<clang::DiagnosticIDs>(), makeOptions(), makeDiagnosticConsumer(log));
  engine->setIgnoreAllWarnings(true);
  return engine;
}

void printDiagnostics(const std::vector<const DiagnosticLog*>& logs) {
  std::set<std::string> printed;
  for (const DiagnosticLog* log : logs)
    for (const std::string& message : log->rendered)
      if (printed.insert(message).second) llvm::errs() << message;
}

} // namespace kcheck::frontend
