// What mem2reg and SROA would promote, asked without changing the code.
#include "frontend/private_memory.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

namespace kcheck::frontend {
namespace {

bool holdsArray(const llvm::Type* type) {
  if (type->isArrayTy()) return true;
  const auto* record = llvm::dyn_cast<llvm::StructType>(type);
  return record && llvm::any_of(record->elements(), holdsArray);
}

/// True when all uses of the address are direct accesses at constant places.
bool staysHome(const llvm::Value* address, unsigned depth = 0) {
  if (depth > 8) return false;
  for (const llvm::User* user : address->users()) {
    if (llvm::isa<llvm::LoadInst>(user)) continue;
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
        store && store->getValueOperand() != address)
      continue;
    if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user);
        call && (llvm::isa<llvm::MemIntrinsic>(call) || call->isLifetimeStartOrEnd() || call->isDroppable() ||
                 llvm::isa<llvm::DbgInfoIntrinsic>(call)))
      continue;
    const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(user);
    const bool follows = (gep && gep->hasAllConstantIndices()) || llvm::isa<llvm::AddrSpaceCastInst>(user) ||
                         llvm::isa<llvm::BitCastInst>(user);
    if (!follows || !staysHome(user, depth + 1)) return false;
  }
  return true;
}

/// The variable of which `address` is a constant part, or null.
const llvm::Value* variableOf(const llvm::Value* address) {
  for (;;) {
    if (const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(address)) {
      if (!gep->hasAllConstantIndices()) return nullptr;
      address = gep->getPointerOperand();
    } else if (const auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(address)) {
      address = cast->getPointerOperand();
    } else {
      return address;
    }
  }
}

} // namespace

bool PrivateMemory::operator()(const llvm::Value* address) {
  const llvm::Value* variable = variableOf(address);
  if (!variable) return false;
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(variable))
    return argument->hasByValAttr() || argument->hasStructRetAttr();
  const auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(variable);
  if (!alloca) return false;
  const auto [entry, isNew] = known.try_emplace(alloca, false);
  if (isNew)
    entry->second =
        !alloca->isArrayAllocation() && !holdsArray(alloca->getAllocatedType()) && staysHome(alloca);
  return entry->second;
}

} // namespace kcheck::frontend
