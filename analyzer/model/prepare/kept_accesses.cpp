#include "analyzer/model/prepare/kept_accesses.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace kcheck::analyzer {

void copyStructParameters(llvm::Function& kernel) {
  const DataLayout& layout = kernel.getDataLayout();
  for (llvm::Argument& argument : kernel.args()) {
    if (!argument.hasByValAttr()) continue;
    IRBuilder<> builder(&*kernel.getEntryBlock().getFirstInsertionPt());
    auto* copy = builder.CreateAlloca(argument.getParamByValType());
    argument.replaceAllUsesWith(copy);
    builder.CreateMemCpy(copy, argument.getParamAlign(), &argument, argument.getParamAlign(),
                         layout.getTypeAllocSize(argument.getParamByValType()).getFixedValue());
  }
}

void markCopies(llvm::Function& kernel, PreparedModule& prepared) {
  Module& module = *kernel.getParent();
  LLVMContext& context = module.getContext();
  auto marker =
      module.getOrInsertFunction(kAccessMarker, Type::getVoidTy(context), PointerType::get(context, 0),
                                 Type::getInt64Ty(context), Type::getInt1Ty(context));
  std::vector<MemIntrinsic*> copies;
  for (auto& block : kernel)
    for (auto& instruction : block)
      if (auto* copy = dyn_cast<MemIntrinsic>(&instruction)) copies.push_back(copy);
  for (MemIntrinsic* copy : copies) {
    auto* transfer = dyn_cast<MemTransferInst>(copy);
    bool toLocal = isa<AllocaInst>(getUnderlyingObject(copy->getRawDest()));
    bool fromLocal = transfer && isa<AllocaInst>(getUnderlyingObject(transfer->getRawSource()));
    if (!transfer || toLocal == fromLocal || copy->getMetadata(kMarkedCopy)) continue;
    copy->setMetadata(kMarkedCopy, MDNode::get(context, {}));
    Value* other = toLocal ? transfer->getRawSource() : transfer->getRawDest();
    if (isa<llvm::Argument>(other) && cast<llvm::Argument>(other)->hasByValAttr()) continue;
    IRBuilder<> builder(copy);
    Value* pointer = builder.CreateAddrSpaceCast(other, PointerType::get(context, 0));
    auto* call =
        builder.CreateCall(marker, {pointer, builder.CreateZExt(copy->getLength(), builder.getInt64Ty()),
                                    builder.getInt1(fromLocal)});
    call->setDebugLoc(copy->getDebugLoc());
    if (auto* site = copy->getMetadata(fromLocal ? kSiteMetadata : kSourceSiteMetadata))
      call->setMetadata(kSiteMetadata, site);
    if (copy->getDebugLoc()) prepared.copies.insert(copy->getDebugLoc());
  }
}

void pinOverrunLocals(llvm::Function& kernel) {
  const DataLayout& layout = kernel.getDataLayout();
  std::set<AllocaInst*> overrun;
  for (auto& block : kernel)
    for (auto& instruction : block) {
      const Value* pointer = getLoadStorePointerOperand(&instruction);
      if (!pointer) continue;
      APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
      auto* base = const_cast<Value*>(pointer->stripAndAccumulateConstantOffsets(layout, offset, true));
      auto* local = dyn_cast<AllocaInst>(base);
      if (!local || !local->getAllocationSize(layout)) continue;
      std::int64_t size = std::int64_t(local->getAllocationSize(layout)->getFixedValue());
      std::int64_t bytes =
          std::int64_t(layout.getTypeStoreSize(getLoadStoreType(&instruction)).getFixedValue());
      if (offset.getSExtValue() < 0 || offset.getSExtValue() + bytes > size) overrun.insert(local);
    }
  Module& module = *kernel.getParent();
  auto pin = module.getOrInsertFunction("kcheck.pin", Type::getVoidTy(module.getContext()),
                                        PointerType::get(module.getContext(), 0));
  for (AllocaInst* local : overrun) IRBuilder<>(local->getNextNode()).CreateCall(pin, {local});
}

SitesByPlace::SitesByPlace(const Module& module) {
  for (const auto& function : module)
    for (const Instruction& instruction : instructions(function))
      if (MDNode* site = instruction.getMetadata(kSiteMetadata)) {
        auto [known, isNew] = sites.try_emplace(keyOf(instruction), site);
        if (!isNew && known->second != site) known->second = nullptr;
      }
}

void SitesByPlace::giveBack(Module& module) const {
  for (auto& function : module)
    for (Instruction& instruction : instructions(function)) {
      if (!isa<LoadInst>(instruction) && !isa<StoreInst>(instruction)) continue;
      if (instruction.getMetadata(kSiteMetadata) || !instruction.getDebugLoc()) continue;
      auto known = sites.find(keyOf(instruction));
      if (known != sites.end() && known->second) instruction.setMetadata(kPieceMetadata, known->second);
    }
}

SitesByPlace::Key SitesByPlace::keyOf(const Instruction& instruction) {
  return {instruction.getFunction(), instruction.getDebugLoc().get(), instruction.getOpcode()};
}

} // namespace kcheck::analyzer
