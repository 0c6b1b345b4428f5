// threadIdx.y is a call of a getter of clang's header, which reads a special register.
#include "frontend/own_axes.h"

#include "report/metadata.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace kcheck::frontend {
namespace {

/// Bits of kOwnAxesAttribute.
unsigned axisOf(llvm::Intrinsic::ID id) {
  using namespace llvm::Intrinsic;
  switch (id) {
  case nvvm_read_ptx_sreg_tid_x:
  case nvvm_read_ptx_sreg_ntid_x: return 1;
  case nvvm_read_ptx_sreg_tid_y:
  case nvvm_read_ptx_sreg_ntid_y: return 2;
  case nvvm_read_ptx_sreg_tid_z:
  case nvvm_read_ptx_sreg_ntid_z: return 4;
  case nvvm_read_ptx_sreg_ctaid_x:
  case nvvm_read_ptx_sreg_nctaid_x: return 8;
  case nvvm_read_ptx_sreg_ctaid_y:
  case nvvm_read_ptx_sreg_nctaid_y: return 16;
  case nvvm_read_ptx_sreg_ctaid_z:
  case nvvm_read_ptx_sreg_nctaid_z: return 32;
  default: return 0;
  }
}

/// A member of the types of threadIdx, blockIdx, blockDim and gridDim: its reader is who calls it.
bool isGetter(const llvm::Function& function) { return function.getName().contains("__cuda_builtin_"); }

struct Walk {
  const std::function<bool(const llvm::Function&)>& inSystemHeader;
  llvm::SmallPtrSet<const llvm::Function*, 32> seen, asOwn;
  unsigned axes = 0;

  /// `isOwn`: the function is the user's, or a getter that the user's code calls.
  void visit(const llvm::Function& function, bool isOwn) {
    if (!(isOwn ? asOwn : seen).insert(&function).second) return;
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      for (const llvm::Use& operand : instruction.operands()) {
        const auto* callee = llvm::dyn_cast<llvm::Function>(operand.get());
        if (!callee) continue;
        if (isOwn) axes |= axisOf(callee->getIntrinsicID());
        if (!callee->isDeclaration()) visit(*callee, isGetter(*callee) ? isOwn : !inSystemHeader(*callee));
      }
  }
};

} // namespace

void noteOwnAxes(llvm::Function& kernel, const std::function<bool(const llvm::Function&)>& inSystemHeader) {
  Walk walk{inSystemHeader, {}, {}};
  walk.visit(kernel, true);
  kernel.addFnAttr(kOwnAxesAttribute, std::to_string(walk.axes));
}

} // namespace kcheck::frontend
