#include "instrument/pass/lowering.h"

#include "instrument/pass/globals.h"
#include "instrument/pass/matrix.h"
#include "instrument/pass/registers.h"
#include "instrument/pass/stages.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

namespace kcheck::instrument {

Lowering::Lowering(DeviceCode& code, llvm::CallInst& call) : code(code), call(call), b(&call) {}

llvm::CallInst* Lowering::runtime(Call which, llvm::ArrayRef<llvm::Value*> argumentsAfterThread) {
  std::vector<llvm::Value*> arguments{thread()};
  arguments.insert(arguments.end(), argumentsAfterThread.begin(), argumentsAfterThread.end());
  return b.CreateCall(runtimeCall(code.module, which), arguments);
}

llvm::Value* Lowering::result(llvm::Value* wait, llvm::Type* type) {
  llvm::Value* wide = b.CreateExtractValue(wait, 0);
  auto bits = unsigned(type->getPrimitiveSizeInBits());
  return b.CreateBitCast(b.CreateTrunc(wide, b.getIntNTy(bits)), type);
}

llvm::Value* Lowering::predicate(llvm::Value* wait) {
  return b.CreateTrunc(b.CreateExtractValue(wait, 1), b.getInt1Ty());
}

void Lowering::markSite(llvm::Instruction& access) {
  for (const char* name : {kSiteMetadata, kSourceSiteMetadata})
    if (auto* site = call.getMetadata(name)) access.setMetadata(name, site);
  access.setDebugLoc(call.getDebugLoc());
}

llvm::LoadInst* Lowering::load(llvm::Type* type, llvm::Value* address, llvm::Align align) {
  return sited(b.CreateAlignedLoad(type, address, align));
}

llvm::Value* Lowering::update(llvm::AtomicRMWInst::BinOp operation, llvm::Value* address, llvm::Value* value,
                              llvm::AtomicOrdering ordering, Scope scope) {
  return sited(b.CreateAtomicRMW(operation, address, value, llvm::MaybeAlign(), ordering, scopeId(scope)));
}

llvm::Value* Lowering::compareExchange(llvm::Value* address, llvm::Value* expected, llvm::Value* desired,
                                       llvm::AtomicOrdering ordering, Scope scope) {
  auto* pair =
      b.CreateAtomicCmpXchg(address, expected, desired, llvm::MaybeAlign(), ordering,
                            llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering), scopeId(scope));
  return b.CreateExtractValue(sited(pair), 0);
}

void Lowering::fence(Scope scope, llvm::AtomicOrdering ordering) { b.CreateFence(ordering, scopeId(scope)); }

llvm::SyncScope::ID Lowering::scopeId(Scope scope) {
  const char* names[] = {"", "block", "device", "system"};
  return b.getContext().getOrInsertSyncScopeID(names[unsigned(scope)]);
}

llvm::Value* Lowering::library(llvm::StringRef name, llvm::Type* result,
                               llvm::ArrayRef<llvm::Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  return b.CreateCall(code.module.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false)),
                      arguments);
}

/// In a member of cooperative_groups::grid_group, which trap where the launch is not cooperative.
static bool isOfGridGroup(const llvm::DILocation* where) {
  for (; where; where = where->getInlinedAt()) {
    const llvm::DISubprogram* function = where->getScope()->getSubprogram();
    const llvm::StringRef name = function ? function->getLinkageName() : "";
    if (name.contains("cooperative_groups") && name.contains("10grid_group")) return true;
  }
  return false;
}

void Lowering::trap() {
  if (isOfGridGroup(call.getDebugLoc().get())) wait({.kind = abi::WaitKind::GridSync}); // says why it cannot
  runtime(Call::kcTrap, {b.getInt32(code.sites.add(abi::SiteKind::Other, 0, call.getDebugLoc()))});
}

llvm::Value* Lowering::unsupported(const std::string& feature) {
  std::uint32_t site = code.sites.add(abi::SiteKind::Other, 0, call.getDebugLoc());
  const SiteRow& row = code.sites[site];
  code.unsupported.push_back(row.file + ":" + std::to_string(row.line) + ": " + feature);
  runtime(Call::kcUnsupported, {hostText(code.module, feature), b.getInt32(site)});
  return type()->isVoidTy() ? nullptr : llvm::Constant::getNullValue(type());
}

namespace {

constexpr const char* kNvvmPrefix = "llvm.nvvm.";
constexpr const char* kRegisterPrefix = "read.ptx.sreg.";

/// True when the call has been replaced.
bool lowerCall(DeviceCode& code, llvm::CallInst& call) {
  Lowering lowering(code, call);
  llvm::Value* value = nullptr;
  llvm::Function* callee = call.getCalledFunction();
  if (call.isInlineAsm()) {
    value = lowerAssembly(lowering);
  } else if (!callee || !callee->isDeclaration()) {
    return false;
  } else if (llvm::StringRef name = callee->getName(); name.consume_front(kNvvmPrefix)) {
    if (name.starts_with(kRegisterPrefix) && isKnownRegister(name.substr(strlen(kRegisterPrefix))))
      return false;
    if (!lowerWmma(lowering, name, value) && !lowerIntrinsic(lowering, name, value) &&
        !lowerCollective(lowering, name, value) && !lowerAtomic(lowering, name, value) &&
        !lowerArithmetic(lowering, name, value))
      value = lowering.unsupported("intrinsic `" + callee->getName().str() + "`");
  } else if (!lowerLibraryCall(lowering, callee->getName(), value)) {
    return false;
  }
  if (!call.getType()->isVoidTy() && value) call.replaceAllUsesWith(value);
  call.eraseFromParent();
  return true;
}

} // namespace

void lowerDevice(DeviceCode& code) {
  for (llvm::Function& function : code.module) {
    std::vector<llvm::CallInst*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) calls.push_back(call);
    for (llvm::CallInst* call : calls) lowerCall(code, *call);
  }
}

} // namespace kcheck::instrument
