// Meanwhile the carry is a variable of the module; then one of the kernel, which is promoted.
#include "analyzer/model/prepare/carries.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include <vector>

using namespace llvm;

namespace kcheck::analyzer {
namespace {

constexpr const char* kPlace = "kcheck.carry";

bool hasCarry(const CallInst& call) {
  if (!call.isInlineAsm()) return false;
  const StringRef text = cast<InlineAsm>(call.getCalledOperand())->getAsmString();
  for (const char* part : {".cc", "addc", "subc", "madc"})
    if (text.contains(part)) return true;
  return false;
}

GlobalVariable& placeIn(Module& module) {
  if (GlobalVariable* known = module.getNamedGlobal(kPlace)) return *known;
  Type* bit = Type::getInt1Ty(module.getContext());
  return *new GlobalVariable(module, bit, false, GlobalValue::InternalLinkage, ConstantInt::getFalse(bit),
                             kPlace);
}

/// A value that nobody knows, as of an asm statement that is not understood.
Value* unknownCarry(IRBuilder<>& b) {
  auto* type = FunctionType::get(b.getInt32Ty(), false);
  auto* word = b.CreateCall(InlineAsm::get(type, "mov.u32 $0, %carry;", "=r", false));
  return b.CreateICmpNE(word, b.getInt32(0));
}

bool losesCarry(const Instruction& instruction) {
  const auto* call = dyn_cast<CallInst>(&instruction);
  return call && !isa<IntrinsicInst>(call) && (!call->isInlineAsm() || hasCarry(*call));
}

} // namespace

void keepCarries(Module& module) {
  for (auto& function : module)
    for (Instruction& instruction : instructions(function)) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (!call || !hasCarry(*call)) continue;
      auto* assembly = cast<InlineAsm>(call->getCalledOperand());
      call->setCalledOperand(InlineAsm::get(assembly->getFunctionType(), assembly->getAsmString(),
                                            assembly->getConstraintString(), true, assembly->isAlignStack(),
                                            assembly->getDialect(), assembly->canThrow()));
      call->removeFnAttr(Attribute::Memory);
    }
}

Value* readCarry(IRBuilder<>& b) {
  return b.CreateLoad(b.getInt1Ty(), &placeIn(*b.GetInsertBlock()->getModule()));
}

void writeCarry(IRBuilder<>& b, Value* carry) {
  b.CreateStore(carry, &placeIn(*b.GetInsertBlock()->getModule()));
}

void connectCarries(llvm::Function& kernel) {
  GlobalVariable* place = kernel.getParent()->getNamedGlobal(kPlace);
  if (!place) return;
  std::vector<Instruction*> uses;
  for (User* user : place->users())
    if (auto* instruction = dyn_cast<Instruction>(user); instruction && instruction->getFunction() == &kernel)
      uses.push_back(instruction);
  if (!uses.empty()) {
    IRBuilder<> b(&kernel.getEntryBlock(), kernel.getEntryBlock().getFirstInsertionPt());
    auto* carry = b.CreateAlloca(b.getInt1Ty());
    b.SetCurrentDebugLocation(uses.front()->getDebugLoc());
    b.CreateStore(unknownCarry(b), carry);
    std::vector<Instruction*> losing;
    for (Instruction& instruction : instructions(kernel))
      if (losesCarry(instruction)) losing.push_back(&instruction);
    for (Instruction* instruction : losing) {
      b.SetInsertPoint(instruction->getNextNode());
      b.SetCurrentDebugLocation(instruction->getDebugLoc());
      b.CreateStore(unknownCarry(b), carry);
    }
    for (Instruction* use : uses) use->replaceUsesOfWith(place, carry);
    DominatorTree dominators(kernel);
    PromoteMemToReg({carry}, dominators);
  }
  if (place->use_empty()) place->eraseFromParent();
}

} // namespace kcheck::analyzer
