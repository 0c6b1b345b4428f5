// First stage: kernels, linkage, and everything that must not survive into host code.
#include "instrument/pass/stages.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <algorithm>

namespace kcheck::instrument {

namespace {

KernelCode& kernelFor(DeviceCode& code, llvm::Function& function) {
  if (KernelCode* known = code.kernelOf(function)) return *known;
  KernelCode& kernel = code.kernels.emplace_back();
  kernel.body = &function;
  kernel.symbol = function.getName();
  return kernel;
}

/// `nvvm.annotations` says which functions are kernels and what __launch_bounds__ said.
void readAnnotations(DeviceCode& code) {
  if (auto* annotations = code.module.getNamedMetadata("nvvm.annotations")) {
    std::map<llvm::Function*, std::uint32_t> bounds;
    for (const llvm::MDNode* node : annotations->operands()) {
      auto* function = llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0));
      if (!function || function->isDeclaration()) continue;
      for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2) {
        llvm::StringRef key = llvm::cast<llvm::MDString>(node->getOperand(i))->getString();
        auto value = llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(i + 1))->getZExtValue();
        if (key == "kernel" && value) kernelFor(code, *function);
        if (key.starts_with("maxntid")) {
          auto [slot, isNew] = bounds.try_emplace(function, 1);
          slot->second *= std::uint32_t(value);
        }
      }
    }
    for (KernelCode& kernel : code.kernels)
      if (auto found = bounds.find(kernel.body); found != bounds.end()) kernel.maxThreads = found->second;
    annotations->eraseFromParent();
  }
  for (llvm::Function& function : code.module)
    if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel && !function.isDeclaration())
      kernelFor(code, function);
}

void resolveAliases(llvm::Module& module) {
  for (llvm::GlobalAlias& alias : llvm::make_early_inc_range(module.aliases())) {
    alias.replaceAllUsesWith(alias.getAliasee());
    alias.eraseFromParent();
  }
}

void makeInternal(DeviceCode& code) {
  llvm::Module& module = code.module;
  for (const char* list : {"llvm.used", "llvm.compiler.used"})
    if (auto* used = module.getNamedGlobal(list)) used->eraseFromParent();
  for (llvm::Function& function : module) {
    function.setComdat(nullptr);
    if (!function.isDeclaration()) function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.setVisibility(llvm::GlobalValue::DefaultVisibility);
    function.setCallingConv(llvm::CallingConv::C);
  }
  for (llvm::GlobalVariable& variable : module.globals()) variable.setComdat(nullptr);
}

void dropUnreached(DeviceCode& code) {
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::Function& function : llvm::make_early_inc_range(code.module)) {
      function.removeDeadConstantUsers();
      if (!function.use_empty() || code.kernelOf(function)) continue;
      function.eraseFromParent();
      changed = true;
    }
    for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(code.module.globals())) {
      variable.removeDeadConstantUsers();
      // Host code may copy to and from a `__device__` variable that no kernel touches.
      bool seenByHost = variable.isExternallyInitialized() && !variable.isDeclaration();
      if (!variable.use_empty() || seenByHost) continue;
      variable.eraseFromParent();
      changed = true;
    }
  }
}

llvm::AttributeList hostAttributes(llvm::LLVMContext& context, const llvm::AttributeList& old,
                                   unsigned count) {
  using llvm::Attribute;
  llvm::AttributeList kept = llvm::AttributeList().addFnAttribute(context, Attribute::NoUnwind);
  auto keep = [&](unsigned index) {
    llvm::AttrBuilder builder(context);
    for (Attribute attribute : old.getAttributes(index)) {
      if (attribute.isStringAttribute()) continue;
      switch (attribute.getKindAsEnum()) {
      case Attribute::ByVal:
      case Attribute::StructRet:
      case Attribute::SExt:
      case Attribute::ZExt: builder.addAttribute(attribute); break;
      case Attribute::Alignment:
        if (old.getAttributes(index).hasAttribute(Attribute::ByVal)) builder.addAttribute(attribute);
        break;
      default: break;
      }
    }
    kept = kept.addAttributesAtIndex(context, index, builder);
  };
  keep(llvm::AttributeList::ReturnIndex);
  for (unsigned i = 0; i < count; ++i) keep(llvm::AttributeList::FirstArgIndex + i);
  return kept;
}

void stripInstruction(llvm::Instruction& instruction, llvm::ArrayRef<unsigned> kept) {
  instruction.dropDbgRecords();
  llvm::SmallVector<std::pair<unsigned, llvm::MDNode*>> all;
  instruction.getAllMetadataOtherThanDebugLoc(all);
  for (auto [kind, node] : all)
    if (!llvm::is_contained(kept, kind)) instruction.setMetadata(kind, nullptr);
  auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call || llvm::isa<llvm::IntrinsicInst>(call)) return;
  call->setAttributes(hostAttributes(call->getContext(), call->getAttributes(), call->arg_size()));
  if (auto* direct = llvm::dyn_cast<llvm::CallInst>(call)) direct->setTailCallKind(llvm::CallInst::TCK_None);
  call->setCallingConv(llvm::CallingConv::C);
}

bool isOnlyAHint(const llvm::Instruction& instruction) {
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!intrinsic) return false;
  switch (intrinsic->getIntrinsicID()) {
  case llvm::Intrinsic::assume:
  case llvm::Intrinsic::experimental_noalias_scope_decl:
  case llvm::Intrinsic::invariant_start:
  case llvm::Intrinsic::invariant_end:
  case llvm::Intrinsic::donothing:
  case llvm::Intrinsic::var_annotation: return true;
  default: return llvm::isa<llvm::DbgInfoIntrinsic>(intrinsic) || intrinsic->isLifetimeStartOrEnd();
  }
}

void strip(DeviceCode& code) {
  llvm::Module& module = code.module;
  llvm::SmallVector<unsigned> kept;
  for (const char* name : {kSiteMetadata, kSourceSiteMetadata, kLocalMetadata, kCopyMetadata})
    kept.push_back(module.getContext().getMDKindID(name));
  for (llvm::Function& function : module) {
    if (function.isIntrinsic()) continue;
    nameLocals(code, function);
    if (KernelCode* kernel = code.kernelOf(function))
      for (const llvm::Argument& parameter : function.args())
        if (parameter.hasNoAliasAttr()) code.restricted.insert({kernel->symbol, parameter.getArgNo()});
    function.setAttributes(
        hostAttributes(module.getContext(), function.getAttributes(), function.arg_size()));
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (isOnlyAHint(instruction))
        instruction.eraseFromParent();
      else
        stripInstruction(instruction, kept);
    }
  }
  for (const char* name : {"nvvmir.version", "llvm.ident"})
    if (auto* node = module.getNamedMetadata(name)) node->eraseFromParent();
}

} // namespace

void prepare(DeviceCode& code) {
  resolveAliases(code.module);
  readAnnotations(code);
  makeInternal(code);
  strip(code);
  dropUnreached(code);
}

} // namespace kcheck::instrument
