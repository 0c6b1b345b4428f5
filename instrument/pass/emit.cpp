// The last step in LLVM: optimise for speed, write an x86-64 object.
#include "instrument/pass/analyses.h"
#include "instrument/pass/stages.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>

#include <mutex>

namespace kcheck::instrument {

namespace {

/// What device code is compiled for: where this machine has them, with the fused multiply-add that a GPU has,
/// too, and the conversions of half precision.
const char* processor() {
  static const char* const chosen = [] {
    llvm::StringMap<bool> has = llvm::sys::getHostCPUFeatures();
    bool all = true;
    for (const char* feature : {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"})
      all &= has.lookup(feature);
    return all ? "x86-64-v3" : "x86-64-v2";
  }();
  return chosen;
}

std::unique_ptr<llvm::TargetMachine> hostMachine(const llvm::Module& module) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(module.getTargetTriple(), error);
  assert(target && "LLVM was built with the X86 target");
  llvm::TargetOptions options;
  options.UseInitArray = true; // else the table registers itself in .ctors, which nothing runs
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(module.getTargetTriple(), processor(), "", options, llvm::Reloc::PIC_,
                                  std::nullopt, llvm::CodeGenOptLevel::Default));
}

} // namespace

void verify(const llvm::Module& module, const char* stage) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!llvm::verifyModule(module, &stream)) return;
  llvm::errs() << "kcheck: internal error: the device module is malformed after stage `" << stage << "`\n"
               << text;
  std::abort();
}

std::string emitObject(llvm::Module& module) {
  auto machine = hostMachine(module);
  module.setDataLayout(machine->createDataLayout());
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) function.addFnAttr("target-cpu", processor());
  llvm::PassBuilder builder(machine.get());
  {
    Analyses analyses(builder);
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, analyses.modules);
  }
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager code;
  bool cannot = machine->addPassesToEmitFile(code, stream, nullptr, llvm::CodeGenFileType::ObjectFile);
  assert(!cannot && "x86-64 can be written as an object file");
  (void)cannot;
  code.run(module);
  return object.str().str();
}

} // namespace kcheck::instrument
