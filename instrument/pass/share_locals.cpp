// Local variables whose addresses go where other threads can find them: stored in shared or global memory, or
// handed round by shuffles and atomics. Each gets memory that tells whose it is
// (runtime/core/shared_locals.h).
#include "instrument/pass/globals.h"
#include "instrument/pass/hooks.h"
#include "instrument/pass/markers.h"
#include "instrument/pass/stages.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <set>
#include <vector>

namespace kcheck::instrument {

namespace {

constexpr std::size_t kMostValues = 256;

/// Whether the value is, or has within it, what the operand was.
bool passesOn(const llvm::Instruction& user) {
  return llvm::isa<llvm::CastInst, llvm::GetElementPtrInst, llvm::PHINode, llvm::SelectInst, llvm::FreezeInst,
                   llvm::InsertValueInst, llvm::ExtractValueInst, llvm::InsertElementInst,
                   llvm::ExtractElementInst, llvm::BinaryOperator>(user);
}

bool isOthers(llvm::Value* place) {
  auto* one = llvm::ConstantInt::get(llvm::Type::getInt64Ty(place->getContext()), 1);
  return localityOf(place, one).kind == Locality::Elsewhere;
}

/// Whether the instruction leaves the value where other threads look.
bool handsOut(llvm::Instruction& user, const llvm::Value& value) {
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&user))
    return store->getValueOperand() == &value && isOthers(store->getPointerOperand());
  if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&user)) return update->getValOperand() == &value;
  if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&user))
    return exchange->getNewValOperand() == &value;
  return isWaitMarker(user) && waitKindOf(llvm::cast<llvm::CallInst>(user)) == abi::WaitKind::Shuffle;
}

bool isHandedOut(llvm::AllocaInst& variable) {
  std::set<llvm::Value*> seen{&variable};
  std::vector<llvm::Value*> pending{&variable};
  while (!pending.empty() && seen.size() < kMostValues) {
    llvm::Value* value = pending.back();
    pending.pop_back();
    for (llvm::User* one : value->users()) {
      auto* user = llvm::dyn_cast<llvm::Instruction>(one);
      if (!user) continue;
      if (handsOut(*user, *value)) return true;
      if (passesOn(*user) && seen.insert(user).second) pending.push_back(user);
    }
  }
  return false;
}

llvm::StringRef nameOf(const llvm::AllocaInst& variable) {
  const llvm::MDNode* name = variable.getMetadata(kLocalMetadata);
  return name ? llvm::cast<llvm::MDString>(name->getOperand(0))->getString() : "";
}

void share(DeviceCode& code, llvm::AllocaInst& variable) {
  const auto size = variable.getAllocationSize(code.module.getDataLayout());
  if (!size || size->isScalable()) return;
  llvm::IRBuilder<> builder(&variable);
  llvm::Value* place = builder.CreateCall(runtimeCall(code.module, Call::kcSharedLocal),
                                          {threadMarker(builder), builder.getInt64(size->getFixedValue()),
                                           hostText(code.module, nameOf(variable))});
  if (place->getType() != variable.getType()) place = builder.CreateAddrSpaceCast(place, variable.getType());
  variable.replaceAllUsesWith(place);
  variable.eraseFromParent();
}

} // namespace

void shareLocals(DeviceCode& code) {
  if (!code.options.checks) return;
  for (KernelCode& kernel : code.kernels) {
    std::vector<llvm::AllocaInst*> variables;
    for (llvm::Instruction& instruction : kernel.entry->getEntryBlock())
      if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction); variable && isHandedOut(*variable))
        variables.push_back(variable);
    for (llvm::AllocaInst* variable : variables) share(code, *variable);
  }
}

} // namespace kcheck::instrument
