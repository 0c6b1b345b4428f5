// The device compilation of one file: an NVPTX module before any optimisation, its kernels, and its access
// sites.
#pragma once

#include "frontend/clang_job.h"
#include "frontend/kernel_templates.h"
#include "report/program.h"

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace kcheck::frontend {

struct DeviceSide {
  DeviceSide();
  ~DeviceSide();
  DeviceSide(DeviceSide&&) noexcept;
  DeviceSide& operator=(DeviceSide&&) noexcept;

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::vector<Kernel> kernels;
  std::vector<Site> sites; ///< numbered from 0 in this file
  std::vector<KernelTemplate> unused;
};

/// False when the file has errors (in `log`).
bool compileDevice(const CompileJobs& jobs, DiagnosticLog& log, DeviceSide& result);

} // namespace kcheck::frontend
