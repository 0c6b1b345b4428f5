// Rewrites host code for managed variables as nvcc does: `x` becomes `*x.managed`, and __cudaRegisterVar
// becomes
// __cudaRegisterManagedVar, which puts the variable's address there.
#include "frontend/managed.h"

#include "report/metadata.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>

namespace kcheck::frontend {
namespace {

constexpr const char* kAnnotation = "kcheck.managed";

/// The variables that carry the annotation, by clang's list of all annotations.
std::vector<llvm::GlobalVariable*> managedVariables(llvm::Module& module) {
  std::vector<llvm::GlobalVariable*> found;
  const llvm::GlobalVariable* list = module.getGlobalVariable("llvm.global.annotations");
  if (!list || !list->hasInitializer()) return found;
  const auto* entries = llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer());
  if (!entries) return found;
  for (const llvm::Use& entry : entries->operands()) {
    const auto* fields = llvm::cast<llvm::ConstantStruct>(entry.get());
    const auto* text = llvm::dyn_cast<llvm::GlobalVariable>(fields->getOperand(1)->stripPointerCasts());
    const auto* data = text && text->hasInitializer()
                           ? llvm::dyn_cast<llvm::ConstantDataArray>(text->getInitializer())
                           : nullptr;
    if (!data || !data->isCString() || data->getAsCString() != kAnnotation) continue;
    if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(fields->getOperand(0)->stripPointerCasts()))
      found.push_back(variable);
  }
  return found;
}

bool isRegistration(const llvm::User& user, llvm::StringRef name) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&user);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == name;
}

/// __cudaRegisterVar(handle, shadow, address, name, ext, size, constant, global)
/// __cudaRegisterManagedVar(handle, slot, address, name, ext, size, constant, global)
void registerAsManaged(llvm::CallInst& call, llvm::GlobalVariable& slot) {
  llvm::Module& module = *call.getModule();
  llvm::SmallVector<llvm::Value*, 8> arguments(call.args());
  arguments[1] = &slot;
  const llvm::FunctionCallee callee =
      module.getOrInsertFunction("__cudaRegisterManagedVar", call.getFunctionType());
  llvm::IRBuilder<> builder(&call);
  builder.CreateCall(callee, arguments);
  call.eraseFromParent();
}

void lower(llvm::GlobalVariable& variable) {
  llvm::Module& module = *variable.getParent();
  llvm::Type* pointer = llvm::PointerType::getUnqual(module.getContext());
  // The pointer is shared among files where the variable is: linkage follows it.
  const bool isLocal = variable.hasLocalLinkage();
  auto* slot = new llvm::GlobalVariable(
      module, pointer, false,
      isLocal ? llvm::GlobalValue::InternalLinkage : llvm::GlobalValue::WeakAnyLinkage,
      llvm::ConstantPointerNull::get(llvm::cast<llvm::PointerType>(pointer)),
      variable.getName() + ".managed");
  llvm::Constant* root = &variable;
  llvm::convertUsersOfConstantsToInstructions({root});
  std::vector<llvm::Use*> uses;
  for (llvm::Use& use : variable.uses()) uses.push_back(&use);
  for (llvm::Use* use : uses) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(use->getUser());
    if (!instruction) continue; // clang's lists of globals
    if (isRegistration(*instruction, "__cudaRegisterVar")) {
      registerAsManaged(*llvm::cast<llvm::CallInst>(instruction), *slot);
      continue;
    }
    auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction);
    llvm::IRBuilder<> builder(phi ? phi->getIncomingBlock(*use)->getTerminator() : instruction);
    if (!phi) builder.SetCurrentDebugLocation(instruction->getDebugLoc());
    use->set(builder.CreateLoad(pointer, slot, variable.getName() + ".address"));
  }
}

} // namespace

void markManagedVariables(llvm::Module& device) {
  for (llvm::GlobalVariable* variable : managedVariables(device)) variable->addAttribute(kManagedAttribute);
}

void lowerManagedVariables(llvm::Module& host) {
  for (llvm::GlobalVariable* variable : managedVariables(host)) lower(*variable);
}

} // namespace kcheck::frontend
