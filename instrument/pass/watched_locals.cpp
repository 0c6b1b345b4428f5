#include "instrument/pass/watched_locals.h"

#include "instrument/pass/abi_calls.h"
#include "instrument/pass/markers.h"
#include "instrument/pass/shuffled_locals.h"
#include "instrument/pass/stages.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Module.h>

namespace kcheck::instrument {

namespace {

constexpr std::uint64_t kLargest = 4096; ///< bytes of a variable that is watched

bool isHook(const llvm::User& user) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&user);
  return call && (isCallTo(*call, Call::kcRead) || isCallTo(*call, Call::kcWrite) ||
                  isCallTo(*call, Call::kcAtomic) || isCallTo(*call, Call::kcLocal));
}

class Finder {
public:
  Finder(llvm::Function& function, const llvm::DominatorTree& dominators)
      : function(function), dominators(dominators), layout(function.getDataLayout()) {}

  WatchedLocals run() {
    // What comes out of a shuffle may have no value either.
    auto size = [&] { return found.variables.size() + found.shuffles.size(); };
    for (std::size_t before = 1; before != size();) {
      before = size();
      for (llvm::Instruction& instruction : function.getEntryBlock())
        if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) consider(*variable);
      for (Watched& one : found.variables)
        for (llvm::LoadInst* load : one.loads)
          for (llvm::CallInst* shuffle : shufflesOf(*load)) found.shuffles.insert(shuffle);
    }
    return std::move(found);
  }

private:
  void consider(llvm::AllocaInst& variable) {
    if (isWatched(&variable)) return;
    auto size = variable.getAllocationSize(layout);
    if (!variable.getMetadata(kLocalMetadata) || !size || size->isScalable() ||
        size->getFixedValue() > kLargest)
      return;
    Watched one;
    one.variable = &variable;
    one.bytes = size->getFixedValue();
    if (!collect(variable, one) || isWrittenFirst(one)) return;
    bool asks = llvm::any_of(one.loads, [](const llvm::LoadInst* load) { return !load->use_empty(); });
    if (asks || !one.fills.empty()) found.variables.push_back(std::move(one));
  }

  /// False when the address goes where it cannot be followed.
  bool collect(llvm::Value& address, Watched& one) {
    for (llvm::User* user : address.users()) {
      auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
      if (!instruction) return false;
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
        one.loads.push_back(load);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
        if (store->getValueOperand() == &address)
          one.leaks.push_back(store);
        else
          one.stores.push_back(store);
      } else if (llvm::isa<llvm::GetElementPtrInst>(user) || llvm::isa<llvm::AddrSpaceCastInst>(user) ||
                 llvm::isa<llvm::BitCastInst>(user)) {
        if (!user->getType()->isPointerTy()) return false;
        one.addresses.push_back(instruction);
        if (!collect(*instruction, one)) return false;
      } else if (auto* fill = llvm::dyn_cast<llvm::MemIntrinsic>(user)) {
        one.fills.push_back(fill);
      } else if (isHook(*user) || llvm::isa<llvm::ICmpInst>(user)) {
        continue;
      } else if (llvm::isa<llvm::CallBase>(user) || llvm::isa<llvm::PtrToIntInst>(user) ||
                 llvm::isa<llvm::AtomicRMWInst>(user) || llvm::isa<llvm::AtomicCmpXchgInst>(user)) {
        one.leaks.push_back(instruction);
      } else {
        return false;
      }
    }
    return true;
  }

  bool isWatched(const llvm::Value* variable) const {
    return llvm::any_of(found.variables, [&](const Watched& one) { return one.variable == variable; });
  }

  /// Whether one write of the whole variable comes before all else, and none brings what may have no value.
  bool isWrittenFirst(const Watched& one) const {
    for (const llvm::StoreInst* store : one.stores)
      if (const auto* load =
              llvm::dyn_cast<llvm::LoadInst>(partItself(const_cast<llvm::Value*>(store->getValueOperand())));
          load && isWatched(llvm::getUnderlyingObject(load->getPointerOperand(), 0)))
        return false;
    std::vector<const llvm::Instruction*> whole;
    for (const llvm::StoreInst* store : one.stores)
      if (store->getPointerOperand()->stripPointerCasts() == one.variable &&
          !llvm::isa<llvm::LoadInst>(store->getValueOperand()) &&
          shufflesIn(store->getValueOperand(), found.shuffles).empty() &&
          layout.getTypeStoreSize(store->getValueOperand()->getType()).getFixedValue() == one.bytes)
        whole.push_back(store);
    for (const llvm::MemIntrinsic* fill : one.fills) {
      auto* length = llvm::dyn_cast<llvm::ConstantInt>(fill->getLength());
      auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(fill);
      bool fromLocal =
          copy && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(copy->getRawSource(), 0));
      if (fill->getRawDest()->stripPointerCasts() == one.variable && length &&
          length->getZExtValue() >= one.bytes && !fromLocal)
        whole.push_back(fill);
    }
    return llvm::any_of(whole, [&](const llvm::Instruction* write) {
      auto comesLater = [&](const llvm::Instruction* other) {
        return other == write || dominators.dominates(write, other);
      };
      return llvm::all_of(one.loads, comesLater) && llvm::all_of(one.fills, comesLater);
    });
  }

  llvm::Function& function;
  const llvm::DominatorTree& dominators;
  const llvm::DataLayout& layout;
  WatchedLocals found;
};

} // namespace

WatchedLocals watchedLocals(llvm::Function& function, const llvm::DominatorTree& dominators) {
  return Finder(function, dominators).run();
}

llvm::Value* partItself(llvm::Value* value) {
  auto* field = llvm::dyn_cast<llvm::ExtractValueInst>(value);
  llvm::Value* part =
      field ? llvm::FindInsertedValue(field->getAggregateOperand(), field->getIndices()) : nullptr;
  return part ? part : value;
}

} // namespace kcheck::instrument
