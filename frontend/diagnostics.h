// Clang's own messages: kept until both sides of a file have been compiled, so that what both sides say is
// printed once, then written to stderr as clang would.
#pragma once

#include <llvm/ADT/IntrusiveRefCntPtr.h>

#include <string>
#include <vector>

namespace clang {
class DiagnosticConsumer;
class DiagnosticsEngine;
} // namespace clang

namespace kcheck::frontend {

/// Messages in order; an entry is an error with its notes, source lines and carets included.
struct DiagnosticLog {
  std::vector<std::string> rendered;
  std::vector<std::string> plain;         ///< the bare sentences
  std::size_t userText = ~std::size_t{0}; ///< what stands further on in the file is a launch line's main
  std::string launchError;                ///< the first sentence about that main
  unsigned launchErrorLine = 0;           ///< as #line has it
  bool hasSharedObject = false;           ///< clang does not take a shared variable for its constructor

  std::string firstMessage() const { return plain.empty() ? "no reason given" : plain.front(); }
};

/// An engine that writes into `log`, which must outlive it.
llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> makeDiagnostics(DiagnosticLog& log);

/// A consumer for a compiler instance of its own engine; the caller owns it.
clang::DiagnosticConsumer* makeDiagnosticConsumer(DiagnosticLog& log);

/// Writes the logs to stderr, every message once.
void printDiagnostics(const std::vector<const DiagnosticLog*>& logs);

} // namespace kcheck::frontend
