// Device module in, x86-64 object out: the stages in their order.
#include "instrument/instrument.h"

#include "instrument/pass/lowering.h"
#include "instrument/pass/stages.h"

#include <llvm/IR/CallingConv.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <cstdlib>

namespace kcheck::instrument {

/// Tells the runtime what the device code was compiled for (function_api.cpp).
static void nameArchitecture(const llvm::Module& device, llvm::Module& module) {
  int architecture = 0;
  for (const llvm::Function& function : device)
    if (llvm::StringRef cpu = function.getFnAttribute("target-cpu").getValueAsString();
        cpu.consume_front("sm_") && !cpu.consumeInteger(10, architecture))
      break;
  if (!architecture) return;
  auto* type = llvm::Type::getInt32Ty(module.getContext());
  new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::WeakAnyLinkage,
                           llvm::ConstantInt::get(type, std::uint64_t(architecture)), "kcheckArchitecture");
}

/// Kernels that nobody starts stay, for the host code names them, with nothing to do.
static void emptyAllBut(const std::set<std::string>& kernels, llvm::Module& module) {
  for (llvm::Function& other : module) {
    const bool isStarted = kernels.contains(other.getName().str()) || !other.use_empty(); // by device code
    if (other.getCallingConv() != llvm::CallingConv::PTX_Kernel || other.isDeclaration() || isStarted)
      continue;
    const auto linkage = other.getLinkage();
    other.deleteBody();
    other.setLinkage(linkage);
    llvm::ReturnInst::Create(module.getContext(), llvm::BasicBlock::Create(module.getContext(), "", &other));
  }
}

OrError<std::string> instrumentDevice(const llvm::Module& device, const Facts& facts,
                                      const Options& options) {
  std::vector<std::string> unsupported;
  return instrumentDevice(device, facts, options, unsupported);
}

OrError<std::string> instrumentDevice(const llvm::Module& device, const Facts& facts, const Options& options,
                                      std::vector<std::string>& unsupported) {
  auto module = llvm::CloneModule(device);
  if (!options.replayed.empty()) emptyAllBut(options.replayed, *module);
  DeviceCode code(*module, facts, options);
  struct Stage {
    const char* name;
    void (*run)(DeviceCode&);
  };
  const Stage stages[] = {
      {"prepare", prepare},
      {"open numbers", settleOpenNumbers},
      {"grid barrier", replaceGridBarrier},
      {"lower device code", lowerDevice},
      {"insert hooks", insertHooks},
      {"inline", inlineSmall},
      {"polling", yieldInPollingLoops},
      {"entries", buildEntries},
      {"finish hooks", finishHooks},
      {"traits", findTraits},
      {"written parameters", findWrittenParameters},
      {"read-only loads", findReadOnlyLoads},
      {"share locals", shareLocals},
      {"shared memory", placeSharedMemory},
      {"retarget", retarget},
      {"wraps", letWrap},
      {"log", logAccesses},
      {"own arrays", nameOwnArrays},
      {"sums", flushSums},
      {"waits", lowerWaits},
      {"tables", writeTables},
  };
  for (const Stage& stage : stages) {
    stage.run(code);
    if (!code.errors.empty()) return Error{code.errors.front()};
    verify(*module, stage.name);
    if (const char* dump = std::getenv("KCHECK_DUMP_STAGE"); dump && llvm::StringRef(dump) == stage.name)
      module->print(llvm::errs(), nullptr);
  }
  nameArchitecture(device, *module);
  unsupported = code.unsupported;
  llvm::StripDebugInfo(*module);
  return emitObject(*module);
}

} // namespace kcheck::instrument
