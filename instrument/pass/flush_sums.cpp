// atomicAdd of floats: in global memory a GPU's adder takes numbers too small for a full mantissa for zeros
// of their sign, and gives such; in shared memory it keeps them. Which memory it is shows when the kernel
// runs.
#include "instrument/pass/stages.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace kcheck::instrument {

namespace {

using Builder = llvm::IRBuilder<>;

llvm::Value* isShared(Builder& b, llvm::Value* address) {
  auto* number = b.CreatePtrToInt(address, b.getInt64Ty());
  return b.CreateICmpULT(b.CreateSub(number, b.getInt64(abi::kSharedStart)), b.getInt64(abi::kSharedExtent));
}

/// The bits of a float; without a mantissa where that has no leading one, unless `keeps`.
llvm::Value* flushed(Builder& b, llvm::Value* bits, llvm::Value* keeps) {
  auto* isFull = b.CreateICmpNE(b.CreateAnd(bits, 0x7f800000), b.getInt32(0));
  return b.CreateSelect(b.CreateOr(isFull, keeps), bits, b.CreateAnd(bits, 0x80000000));
}

/// As a loop that tries until nobody has come between, which the code generator would make of it as well.
void writeOut(llvm::AtomicRMWInst& sum) {
  Builder b(&sum);
  llvm::Value *address = sum.getPointerOperand(), *keeps = isShared(b, address);
  auto asFloat = [&](llvm::Value* bits) { return b.CreateBitCast(bits, b.getFloatTy()); };
  auto asBits = [&](llvm::Value* value) { return b.CreateBitCast(value, b.getInt32Ty()); };
  auto* addend = asFloat(flushed(b, asBits(sum.getValOperand()), keeps));
  auto* first = b.CreateAlignedLoad(b.getInt32Ty(), address, llvm::Align(4));
  first->setAtomic(llvm::AtomicOrdering::Monotonic, sum.getSyncScopeID());

  llvm::BasicBlock* before = sum.getParent();
  llvm::BasicBlock* after = llvm::SplitBlock(before, &sum);
  auto* loop = llvm::BasicBlock::Create(b.getContext(), "sum", before->getParent(), after);
  before->getTerminator()->setSuccessor(0, loop);
  b.SetInsertPoint(loop);
  auto* old = b.CreatePHI(b.getInt32Ty(), 2);
  auto* result = b.CreateFAdd(asFloat(flushed(b, old, keeps)), addend);
  auto* tried = b.CreateAtomicCmpXchg(
      address, old, flushed(b, asBits(result), keeps), llvm::Align(4), sum.getOrdering(),
      llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(sum.getOrdering()), sum.getSyncScopeID());
  old->addIncoming(first, before);
  old->addIncoming(b.CreateExtractValue(tried, 0), loop);
  b.CreateCondBr(b.CreateExtractValue(tried, 1), after, loop);

  b.SetInsertPoint(&sum);
  sum.replaceAllUsesWith(asFloat(old));
  sum.eraseFromParent();
}

} // namespace

void flushSums(DeviceCode& code) {
  std::vector<llvm::AtomicRMWInst*> sums;
  for (llvm::Function& function : code.module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
          update && update->getOperation() == llvm::AtomicRMWInst::FAdd && update->getType()->isFloatTy())
        sums.push_back(update);
  for (llvm::AtomicRMWInst* sum : sums) writeOut(*sum);
}

} // namespace kcheck::instrument
