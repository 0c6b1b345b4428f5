// The front end, from outside: CUDA source files in; the device module before any optimisation, the facts
// that the source shows, and host objects out. The only room that includes clang (never in this header).
#pragma once

#include "report/error.h"
#include "report/finding.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace kcheck::frontend {

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> clangArguments; ///< -I -D -U -std= -include -isystem -x -O ..., as given
  std::string cudaPath; ///< empty: where the toolkit is found; "none": the headers kcheck ships
  std::string arch = "sm_80";
  bool wantHost = true; ///< compile host code for the run as well
  /// The launch lines are kcheck's own: clang says nothing of them, and the program starts the one whose
  /// number is its argument.
  bool isOwnLaunch = false;
  std::vector<std::string> launchLines; ///< `k<<<8,128>>>(float[1000], 1000)`: a main for a file without one
};

struct Program {
  Program();
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> device; ///< NVPTX, all files linked, before optimisation, with site metadata
  Facts facts;
  std::vector<std::string> hostObjects; ///< contents of ELF objects, one per file
  std::vector<Kernel> unchecked;        ///< templates of which no instance could be made
  std::vector<Finding> findings;        ///< of the rules that the text alone answers (host_rules.h)
};

/// Compiles all files. Clang's own diagnostics go to stderr as they are; the error then only says which file
/// failed.
OrError<Program> compile(const Options& options);

} // namespace kcheck::frontend
