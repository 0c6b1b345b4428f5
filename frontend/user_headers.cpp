// Looks at each header just before the preprocessor enters it.
#include "frontend/user_headers.h"

#include "frontend/source_text.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Support/MemoryBuffer.h>

namespace kcheck::frontend {
namespace {

class UserHeaders : public clang::PPCallbacks {
public:
  explicit UserHeaders(clang::SourceManager& sources) : sources(sources) {}

  void InclusionDirective(clang::SourceLocation, const clang::Token&, llvm::StringRef, bool,
                          clang::CharSourceRange, clang::OptionalFileEntryRef file, llvm::StringRef,
                          llvm::StringRef, const clang::Module*, bool,
                          clang::SrcMgr::CharacteristicKind kind) override {
    if (!file || kind != clang::SrcMgr::C_User || sources.isFileOverridden(*file)) return;
    if (!seen.insert(&file->getFileEntry()).second) return;
    const auto content = sources.getFileManager().getBufferForFile(*file);
    if (!content) return; // clang says so
    const std::string text = (*content)->getBuffer().str();
    const std::string adapted = adaptToClang(text);
    if (adapted != text)
      sources.overrideFileContents(
          *file, llvm::MemoryBuffer::getMemBufferCopy(adapted, (*content)->getBufferIdentifier()));
  }

private:
  clang::SourceManager& sources;
  llvm::DenseSet<const clang::FileEntry*> seen;
};

} // namespace

void adaptUserHeaders(clang::CompilerInstance& compiler) {
  compiler.getPreprocessor().addPPCallbacks(std::make_unique<UserHeaders>(compiler.getSourceManager()));
}

} // namespace kcheck::frontend
