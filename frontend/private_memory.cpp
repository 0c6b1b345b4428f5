// What mem2reg and SROA would promote, asked without changing the code.
#include "frontend/private_memory.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfo.h>
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

/// The one value that is ever stored in a pointer variable: the `this` or the reference parameter of an
/// inlined wrapper. Null when it has none, or several, or is used otherwise.
const llvm::StoreInst* onlyStore(const llvm::AllocaInst& variable) {
  const llvm::StoreInst* found = nullptr;
  for (const llvm::User* user : variable.users()) {
    if (llvm::isa<llvm::LoadInst>(user) || llvm::isa<llvm::DbgInfoIntrinsic>(user)) continue;
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (!store || store->getValueOperand() == &variable || found) return nullptr;
    found = store;
  }
  return found;
}

bool isHarmlessCall(const llvm::User& user) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&user);
  if (!call || !call->getCalledFunction()) return false;
  if (call->getCalledFunction()->getName() == "vprintf") return true; // its packed arguments
  return llvm::isa<llvm::MemIntrinsic>(call) || call->isLifetimeStartOrEnd() || call->isDroppable() ||
         llvm::isa<llvm::DbgInfoIntrinsic>(call);
}

/// True when all uses of the address are direct accesses at constant places.
bool staysHome(const llvm::Value* address, unsigned depth = 0) {
  if (depth > 12) return false;
  for (const llvm::User* user : address->users()) {
    if (llvm::isa<llvm::LoadInst>(user) || llvm::isa<llvm::ICmpInst>(user) || isHarmlessCall(*user)) continue;
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      if (store->getValueOperand() != address) continue;
      const auto* pointer = llvm::dyn_cast<llvm::AllocaInst>(store->getPointerOperand());
      if (!pointer || onlyStore(*pointer) != store) return false;
      for (const llvm::User* reader : pointer->users())
        if (llvm::isa<llvm::LoadInst>(reader) && !staysHome(reader, depth + 1)) return false;
      continue;
    }
    const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(user);
    const bool follows = (gep && gep->hasAllConstantIndices()) || llvm::isa<llvm::AddrSpaceCastInst>(user) ||
                         llvm::isa<llvm::BitCastInst>(user);
    if (!follows || !staysHome(user, depth + 1)) return false;
  }
  return true;
}

/// The variable of which `address` is a constant part, or null.
const llvm::Value* variableOf(const llvm::Value* address) {
  for (unsigned steps = 0; steps < 64; ++steps) {
    if (const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(address)) {
      if (!gep->hasAllConstantIndices()) return nullptr;
      address = gep->getPointerOperand();
    } else if (const auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(address)) {
      address = cast->getPointerOperand();
    } else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(address)) {
      const auto* pointer = llvm::dyn_cast<llvm::AllocaInst>(load->getPointerOperand());
      const llvm::StoreInst* store = pointer ? onlyStore(*pointer) : nullptr;
      if (!store) return nullptr;
      address = store->getValueOperand();
    } else {
      return address;
    }
  }
  return nullptr;
}

/// A variable of an inlined wrapper, or one that clang made up: the user has no name for it.
bool isTemporary(const llvm::Value* address) {
  auto* alloca =
      llvm::dyn_cast<llvm::AllocaInst>(const_cast<llvm::Value*>(llvm::getUnderlyingObject(address, 0)));
  if (!alloca) return false;
  for (const llvm::DbgVariableRecord* declare : llvm::findDVRDeclares(alloca))
    if (!declare->getDebugLoc()->getInlinedAt()) return false;
  for (const llvm::DbgDeclareInst* declare : llvm::findDbgDeclares(alloca))
    if (!declare->getDebugLoc()->getInlinedAt()) return false;
  return true;
}

} // namespace

bool PrivateMemory::operator()(const llvm::Value* address) {
  if (isTemporary(address)) return true;
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
