// Last word on hooks: each gets the site of the place where it now stands, proved reads lose theirs, and
// checks of local arrays become a comparison that the optimiser can fold.
#include "instrument/pass/filled_arrays.h"
#include "instrument/pass/hooks.h"
#include "instrument/pass/read_values.h"
#include "instrument/pass/stages.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <set>
#include <vector>

namespace kcheck::instrument {

namespace {

MemorySpace spaceOf(llvm::Value* address) {
  llvm::SmallVector<const llvm::Value*, 4> objects;
  llvm::getUnderlyingObjects(address, objects, nullptr, 0);
  auto space = MemorySpace::Generic;
  for (const llvm::Value* object : objects) {
    auto here = MemorySpace::Generic;
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object)) {
      unsigned number = variable->getAddressSpace();
      here = number == 3                             ? MemorySpace::Shared
             : number == 4 || variable->isConstant() ? MemorySpace::Constant
                                                     : MemorySpace::Global;
    }
    if (here == MemorySpace::Generic || (object != objects.front() && here != space))
      return MemorySpace::Generic;
    space = here;
  }
  return space;
}

/// Whether the value is worked out from what an atomic counter gave.
bool isDrawn(llvm::Value* value) {
  std::set<llvm::Value*> seen;
  std::vector<llvm::Value*> work{value};
  while (!work.empty()) {
    auto* next = llvm::dyn_cast<llvm::Instruction>(work.back());
    work.pop_back();
    if (!next || !seen.insert(next).second) continue;
    if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(next)) {
      using Update = llvm::AtomicRMWInst;
      auto kind = update->getOperation();
      if (kind == Update::Add || kind == Update::Sub || kind == Update::UIncWrap || kind == Update::UDecWrap)
        return true;
    }
    if (next->mayReadOrWriteMemory()) continue;
    work.insert(work.end(), next->op_begin(), next->op_end());
  }
  return false;
}

/// The store or fill of a local array that the hook is for, and after it what notes that the bytes are
/// written.
std::vector<llvm::Instruction*> writesOf(llvm::CallInst& hook) {
  const llvm::Value* address = hook.getArgOperand(3)->stripPointerCasts();
  std::vector<llvm::Instruction*> writes;
  for (llvm::Instruction* next = hook.getNextNode(); next; next = next->getNextNode()) {
    if (!writes.empty()) {
      if (next->getMetadata(kTwinMetadata)) writes.push_back(next);
      if (next->mayWriteToMemory() && next != writes.back()) break;
      continue;
    }
    llvm::Value* to = nullptr;
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(next)) to = store->getPointerOperand();
    if (auto* fill = llvm::dyn_cast<llvm::MemIntrinsic>(next)) to = fill->getRawDest();
    if (to && to->stripPointerCasts() == address)
      writes.push_back(next);
    else if (to)
      break;
  }
  return writes;
}

/// `if (address - base > bytes - size) kcLocal(...)`, in unsigned arithmetic; a write is done only `else`, so
/// that it harms no other variable.
void writeOutLocal(llvm::CallInst& hook) {
  const std::vector<llvm::Instruction*> writes = writesOf(hook);
  if (!writes.empty())
    hook.moveBefore(writes.back()); // what the last one stores may be computed between them
  llvm::IRBuilder<> builder(&hook);
  auto* wide = builder.getInt64Ty();
  auto* extent = llvm::cast<llvm::ConstantInt>(hook.getArgOperand(2));
  auto* from = builder.CreatePtrToInt(hook.getArgOperand(1), wide);
  auto* offset = builder.CreateSub(builder.CreatePtrToInt(hook.getArgOperand(3), wide), from);
  llvm::Value* size = hook.getArgOperand(4);
  auto* tooLarge = builder.CreateICmpUGT(size, extent);
  auto* outside = builder.CreateICmpUGT(offset, builder.CreateSub(extent, size));
  llvm::Instruction *then = nullptr, *otherwise = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(builder.CreateOr(tooLarge, outside), &hook, &then, &otherwise);
  hook.moveBefore(then);
  for (llvm::Instruction* write : writes) write->moveBefore(otherwise);
}

/// `if (missing) kcUnwritten(...)`.
void writeOutQuestion(llvm::CallInst& hook) {
  llvm::Value* missing = hook.getArgOperand(1);
  auto* unlikely = llvm::MDBuilder(hook.getContext()).createUnlikelyBranchWeights();
  hook.moveBefore(llvm::SplitBlockAndInsertIfThen(missing, &hook, false, unlikely));
  hook.setArgOperand(1, llvm::ConstantInt::getTrue(hook.getContext()));
}

std::uint16_t valueFlags(const ReadValue& value) {
  return std::uint16_t((value.mayBeDropped ? abi::SiteMayDrop : 0) | (value.isCopied ? abi::SiteCopies : 0));
}

/// What holds of two reads of one site.
ReadValue inCommon(const ReadValue& one, const ReadValue& other) {
  const bool isKnown = one.usedWords != 0 && other.usedWords != 0;
  return {one.mayBeDropped && other.mayBeDropped, one.isCopied && other.isCopied, false,
          isKnown ? one.usedWords | other.usedWords : 0};
}

} // namespace

void finishHooks(DeviceCode& code) {
  std::map<std::uint32_t, ReadValue> values; ///< by site; of all its reads
  for (llvm::Function& function : code.module) {
    settleUnwritten(function); // what was inlined since may have answered it
    settleFilledArrays(function);
    std::vector<llvm::CallInst*> locals, questions;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      bool isRead = isCallTo(instruction, Call::kcRead), isWrite = isCallTo(instruction, Call::kcWrite);
      bool isAtomic = isCallTo(instruction, Call::kcAtomic), isLocal = isCallTo(instruction, Call::kcLocal);
      bool isUnsupported = isCallTo(instruction, Call::kcUnsupported);
      bool isTrap = isCallTo(instruction, Call::kcTrap);
      bool isTexture = isCallTo(instruction, Call::kcTexture) || isCallTo(instruction, Call::kcSurface);
      bool isUnwritten = isCallTo(instruction, Call::kcUnwritten);
      bool isHeap = isCallTo(instruction, Call::kcMalloc) || isCallTo(instruction, Call::kcFree);
      bool isCallee = isCallTo(instruction, Call::kcCallee);
      if (!isRead && !isWrite && !isAtomic && !isLocal && !isUnsupported && !isTrap && !isTexture &&
          !isHeap && !isUnwritten && !isCallee)
        continue;
      auto& hook = llvm::cast<llvm::CallInst>(instruction);
      if (!code.options.checks && (isRead || isWrite || isAtomic || isLocal || isCallee)) {
        hook.eraseFromParent();
        continue;
      }
      unsigned position = isLocal || isTexture                  ? 5
                          : isUnwritten                         ? 4
                          : isUnsupported || isHeap || isCallee ? 2
                          : isTrap                              ? 1
                                                                : 3;
      auto base = std::uint32_t(llvm::cast<llvm::ConstantInt>(hook.getArgOperand(position))->getZExtValue());
      // A proved write keeps its hook: without it, reads of what it wrote would look uninitialised.
      if (isRead && code.options.skip.contains(code.sites[base].origin)) {
        hook.eraseFromParent();
        continue;
      }
      std::uint32_t site = code.sites.at(base, hook.getDebugLoc());
      const ReadValue value = isRead ? valueOf(hook) : ReadValue();
      if (value.isUnused) site = code.sites.unusedCopyOf(site);
      hook.setArgOperand(position, llvm::ConstantInt::get(hook.getArgOperand(position)->getType(), site));
      if (isRead || isWrite || isAtomic) {
        code.sites[site].space = std::uint8_t(spaceOf(hook.getArgOperand(1)));
        if (isDrawn(hook.getArgOperand(1))) code.sites[site].flags |= abi::SiteDrawn;
      }
      if (isRead) {
        const auto [known, isNew] = values.try_emplace(site, value);
        if (!isNew) known->second = inCommon(known->second, value);
      }
      // A vector of PTX is one statement, but an atomic for each of its elements.
      if (isAtomic && code.sites[site].kind == abi::SiteKind::Atomic)
        if (auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(hook.getArgOperand(2)))
          code.sites[site].bytes = std::uint32_t(bytes->getZExtValue());
      if (isLocal) locals.push_back(&hook);
      if (isUnwritten) questions.push_back(&hook);
    }
    for (llvm::CallInst* hook : locals) writeOutLocal(*hook);
    for (llvm::CallInst* hook : questions) writeOutQuestion(*hook);
  }
  for (const auto& [site, value] : values) {
    code.sites[site].flags |= valueFlags(value);
    code.sites[site].usedWords = value.usedWords;
  }
}

} // namespace kcheck::instrument
