// Which bytes of a thread's own variables have a value. Each variable of the user's code that may be read
// before it is written gets a twin of the same layout: 1 for a byte that has been written, 0 otherwise.
// Writes set it, copies carry it along, and a read whose value is used asks it. Promotion to registers then
// promotes the twin as well, so that where a value is there on every path the question folds away
// (settleUnwritten) and costs nothing.
#include "instrument/pass/bit_fields.h"
#include "instrument/pass/globals.h"
#include "instrument/pass/markers.h"
#include "instrument/pass/shuffled_locals.h"
#include "instrument/pass/stages.h"
#include "instrument/pass/watched_locals.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <map>
#include <set>
#include <vector>

namespace kcheck::instrument {

namespace {

/// `this` and reference parameters of what was inlined: pointers with one value become that value.
void promotePointers(llvm::Function& function, llvm::DominatorTree& dominators) {
  std::vector<llvm::AllocaInst*> pointers;
  for (llvm::Instruction& instruction : function.getEntryBlock()) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (!variable || !variable->getAllocatedType()->isPointerTy() || !llvm::isAllocaPromotable(variable))
      continue;
    const llvm::StoreInst* store = nullptr;
    unsigned stores = 0;
    for (const llvm::User* user : variable->users())
      if (const auto* one = llvm::dyn_cast<llvm::StoreInst>(user)) store = one, ++stores;
    bool always = stores == 1 && llvm::all_of(variable->users(), [&](const llvm::User* user) {
                    return !llvm::isa<llvm::LoadInst>(user) ||
                           dominators.dominates(store, llvm::cast<llvm::LoadInst>(user));
                  });
    if (always) pointers.push_back(variable);
  }
  if (!pointers.empty()) llvm::PromoteMemToReg(pointers, dominators);
}

/// Whether the value does more than move to another variable of the thread.
bool isUsed(const llvm::LoadInst& load) {
  if (load.getMetadata(kCopyMetadata)) return false; // of a structure, unwritten fields and padding included
  bool onlyMoves = llvm::all_of(load.users(), [&](const llvm::User* user) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    return store && store->getValueOperand() == &load &&
           llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand(), 0));
  });
  return !onlyMoves && !isBitFieldUpdate(load);
}

class Tracker {
public:
  Tracker(DeviceCode& code, llvm::Function& function, const llvm::DominatorTree& dominators)
      : code(code), function(function), dominators(dominators), layout(code.module.getDataLayout()),
        watched(watchedLocals(function, dominators)) {}

  void run() {
    for (Watched& one : watched.variables) makeTwin(one);
    for (Watched& one : watched.variables)
      for (llvm::LoadInst* load : one.loads) follow(*load);
    for (Watched& one : watched.variables) {
      for (llvm::StoreInst* store : one.stores) follow(*store);
      for (llvm::MemIntrinsic* fill : one.fills) follow(*fill, one);
      for (llvm::Instruction* leak : one.leaks) setAll(one, *leak);
    }
  }

private:
  DeviceCode& code;
  llvm::Function& function;
  const llvm::DominatorTree& dominators;
  const llvm::DataLayout& layout;
  WatchedLocals watched;
  std::map<const llvm::Value*, llvm::Value*> twinOf; ///< address to address
  std::map<const llvm::LoadInst*, llvm::Value*> marksOf;

  void makeTwin(Watched& one) {
    llvm::IRBuilder<> builder(one.variable->getNextNode());
    auto* bytes = llvm::ArrayType::get(builder.getInt8Ty(), one.bytes);
    one.twin = builder.CreateAlloca(bytes);
    one.twin->setAlignment(one.variable->getAlign());
    llvm::BasicBlock& entry = function.getEntryBlock();
    builder.SetInsertPoint(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
    if (!dominators.dominates(one.twin, &*builder.GetInsertPoint()))
      builder.SetInsertPoint(one.twin->getNextNode());
    builder.CreateMemSet(one.twin, builder.getInt8(0), one.bytes, one.twin->getAlign());
    twinOf[one.variable] = one.twin;
    for (llvm::Instruction* address : one.addresses) {
      llvm::Instruction* twin = address->clone();
      twin->setMetadata("kcheck.site", nullptr);
      twin->setOperand(0, twinOf.at(address->getOperand(0)));
      if (auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(twin))
        element->setNoWrapFlags(llvm::GEPNoWrapFlags::none());
      twin->insertAfter(address);
      twinOf[address] = twin;
    }
  }

  llvm::IntegerType* marksType(llvm::Type* type) const {
    std::uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
    return bytes && bytes <= 16 ? llvm::IntegerType::get(type->getContext(), unsigned(8 * bytes)) : nullptr;
  }

  static llvm::Constant* allWritten(llvm::IntegerType* type) {
    return llvm::ConstantInt::get(type, llvm::APInt::getSplat(type->getBitWidth(), llvm::APInt(8, 1)));
  }

  void follow(llvm::LoadInst& load) {
    llvm::IntegerType* type = marksType(load.getType());
    if (!type || load.use_empty()) return;
    llvm::IRBuilder<> builder(&load);
    llvm::Value* marks =
        builder.CreateAlignedLoad(type, twinOf.at(load.getPointerOperand()), load.getAlign());
    marksOf[&load] = marks;
    if (!code.isUserPlace(load.getDebugLoc()) || !isUsed(load)) return;
    auto* missing = builder.CreateICmpNE(marks, allWritten(type));
    auto offered = shufflesOf(load);
    if (offered.empty()) return ask(builder, load, missing);
    for (llvm::CallInst* shuffle : offered) {
      offerMissing(*shuffle, missing);
      if (!isResultUsed(*shuffle)) continue;
      llvm::IRBuilder<> after(shuffle->getNextNode());
      ask(after, load, receivedMissing(after, *shuffle));
    }
  }

  void ask(llvm::IRBuilder<>& builder, llvm::LoadInst& load, llvm::Value* missing) {
    auto* variable = llvm::cast<llvm::AllocaInst>(llvm::getUnderlyingObject(load.getPointerOperand(), 0));
    std::uint32_t site = siteOf(load);
    llvm::StringRef name =
        llvm::cast<llvm::MDString>(variable->getMetadata(kLocalMetadata)->getOperand(0))->getString();
    auto* call = builder.CreateCall(runtimeCall(code.module, Call::kcUnwritten),
                                    {threadMarker(builder), missing, hostText(code.module, name.str()),
                                     builder.getInt64(layout.getTypeStoreSize(load.getType())),
                                     builder.getInt32(site)});
    call->setDebugLoc(load.getDebugLoc());
  }

  std::uint32_t siteOf(llvm::LoadInst& load) {
    if (auto* node = load.getMetadata(kSiteMetadata)) {
      auto id = llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(0))->getZExtValue();
      if (id < code.facts.sites.size()) return std::uint32_t(id);
    }
    return code.sites.add(abi::SiteKind::Read, unsigned(layout.getTypeStoreSize(load.getType())),
                          load.getDebugLoc());
  }

  void follow(llvm::StoreInst& store) {
    llvm::Value* twin = twinOf.at(store.getPointerOperand());
    llvm::Type* stored = store.getValueOperand()->getType();
    llvm::IntegerType* type = marksType(stored);
    llvm::IRBuilder<> builder(store.getNextNode());
    if (!type) {
      notes(builder.CreateMemSet(twin, builder.getInt8(1), layout.getTypeStoreSize(stored).getFixedValue(),
                                 store.getAlign()));
      return;
    }
    llvm::Value* marks = allWritten(type);
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(partItself(store.getValueOperand())))
      if (auto known = marksOf.find(load); known != marksOf.end() && !isAsked(*load)) marks = known->second;
    for (llvm::CallInst* shuffle : shufflesIn(store.getValueOperand(), watched.shuffles))
      marks =
          builder.CreateSelect(receivedMissing(builder, *shuffle), llvm::ConstantInt::get(type, 0), marks);
    notes(builder.CreateAlignedStore(marks, twin, store.getAlign()));
  }

  /// Of the write before it; done only where that is (writeOutLocal).
  static void notes(llvm::Instruction* write) {
    write->setMetadata(kTwinMetadata, llvm::MDNode::get(write->getContext(), {}));
  }

  /// What has been told once is not told again of the copy.
  bool isAsked(const llvm::LoadInst& load) const {
    return code.isUserPlace(load.getDebugLoc()) && isUsed(load);
  }

  void follow(llvm::MemIntrinsic& fill, const Watched& one) {
    auto to = twinOf.find(fill.getRawDest());
    if (to == twinOf.end()) return;
    if (llvm::getUnderlyingObject(fill.getRawDest(), 0) != one.variable) return; // in the other's turn
    llvm::IRBuilder<> builder(fill.getNextNode());
    llvm::Align align = fill.getDestAlign().valueOrOne();
    if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&fill))
      if (auto from = twinOf.find(copy->getRawSource()); from != twinOf.end()) {
        notes(builder.CreateMemMove(to->second, align, from->second, copy->getSourceAlign().valueOrOne(),
                                    fill.getLength()));
        return;
      }
    notes(builder.CreateMemSet(to->second, builder.getInt8(1), fill.getLength(), align));
  }

  void setAll(Watched& one, llvm::Instruction& leak) {
    llvm::IRBuilder<> builder(&leak);
    builder.CreateMemSet(one.twin, builder.getInt8(1), one.bytes, one.twin->getAlign());
  }
};

} // namespace

void trackLocals(DeviceCode& code, llvm::Function& function) {
  if (!code.options.checks || function.isDeclaration()) return;
  llvm::DominatorTree dominators(function);
  promotePointers(function, dominators);
  Tracker(code, function, dominators).run();
  for (llvm::Instruction& instruction :
       llvm::instructions(function)) // once; what is inlined later brings its twins
    if (llvm::isa<llvm::AllocaInst>(instruction)) instruction.setMetadata(kLocalMetadata, nullptr);
}

} // namespace kcheck::instrument
