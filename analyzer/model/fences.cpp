#include "analyzer/model/fences.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace kcheck::analyzer {

unsigned fenceReach(const Instruction& instruction) {
  if (auto* fence = dyn_cast<FenceInst>(&instruction))
    return fence->getSyncScopeID() == SyncScope::System ? 2 : 1;
  auto* call = dyn_cast<CallInst>(&instruction);
  if (!call) return 0;
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(call)) {
    switch (intrinsic->getIntrinsicID()) {
    case Intrinsic::nvvm_membar_cta: return 1;
    case Intrinsic::nvvm_membar_gl:
    case Intrinsic::nvvm_membar_sys: return 2;
    default: return 0;
    }
  }
  auto* assembly = dyn_cast<InlineAsm>(call->getCalledOperand());
  if (!assembly) return 0;
  StringRef text = StringRef(assembly->getAsmString()).trim();
  bool isFence =
      text.starts_with("membar.") || text.starts_with("fence.acq_rel.") || text.starts_with("fence.sc.");
  if (!isFence || text.count(';') > 1) return 0;
  return text.contains(".cta")                                                    ? 1
         : text.contains(".gl") || text.contains(".gpu") || text.contains(".sys") ? 2
                                                                                  : 0;
}

} // namespace kcheck::analyzer
