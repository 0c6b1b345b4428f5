// Calls by name: the device library's own functions (printf, malloc, assert) and the barrier of cooperative
// groups' grids. Everything else that is declared and not defined must be a `__nv_` function of libkcheckrt.
#include "instrument/pass/globals.h"
#include "instrument/pass/lowering.h"
#include "instrument/pass/stages.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace kcheck::instrument {

namespace {

constexpr std::uint32_t kErrorMemoryAllocation = 2;

/// A mangled name in namespace cooperative_groups::details, whatever its inline namespace is called.
bool isGridBarrierPart(llvm::StringRef name, llvm::StringRef part) {
  return name.contains("cooperative_groups") && name.contains("details") && name.contains(part);
}

bool isMathLibrary(llvm::StringRef name) {
  return name.starts_with("__nv_") && !name.starts_with("__nv_atomic_");
}

bool isOurs(llvm::StringRef name) { return name.starts_with("kc") || name.starts_with("kcheck."); }

/// As the program calls it: of the device runtime (CUDA's API in kernels) the name without its version.
std::string sourceName(llvm::StringRef name) {
  if (name.consume_front("__cudaCDP2")) return "cuda" + name.str();
  return llvm::demangle(name);
}

/// `cudaMalloc` in a kernel, or its template.
bool isHeapMalloc(const std::string& name) {
  return name == "cudaMalloc" || llvm::StringRef(name).contains("cudaError cudaMalloc<");
}

/// The call's own site.
llvm::Value* place(Lowering& l) {
  return l.b.getInt32(l.code.sites.add(abi::SiteKind::Other, 0, l.call.getDebugLoc()));
}

} // namespace

bool lowerLibraryCall(Lowering& l, llvm::StringRef name, llvm::Value*& value) {
  const std::string source = sourceName(name);
  if (name == "vprintf") {
    value = l.runtime(Call::kcPrintf, {l.operand(0), l.operand(1)});
  } else if (name == "malloc" || name.starts_with("_Znwm") || name.starts_with("_Znam")) {
    value = l.runtime(Call::kcMalloc, {l.operand(0), place(l)});
  } else if (isHeapMalloc(source)) { // takes from the same heap
    llvm::Value* memory = l.runtime(Call::kcMalloc, {l.operand(1), place(l)});
    l.sited(l.b.CreateAlignedStore(memory, l.operand(0), llvm::Align(8)));
    value = l.b.CreateSelect(l.b.CreateIsNull(memory), l.b.getInt32(kErrorMemoryAllocation), l.b.getInt32(0));
  } else if (source == "cudaFree") {
    l.runtime(Call::kcFree, {l.operand(0), place(l)});
    value = l.b.getInt32(0);
  } else if (name == "__kcheck_surface") { // of the surface functions that kcheck supplies
    l.runtime(Call::kcSurface, {l.operand(0), l.operand(1), l.operand(2), l.operand(3), place(l)});
  } else if (name == "free" || name.starts_with("_ZdlPv") || name.starts_with("_ZdaPv")) {
    l.runtime(Call::kcFree, {l.operand(0), place(l)});
  } else if (name == "__kcheck_assumption") { // what kcheck makes of __builtin_assume
    auto* unlikely = llvm::MDBuilder(l.b.getContext()).createUnlikelyBranchWeights();
    llvm::Value* fails = l.b.CreateNot(l.operand(0));
    l.b.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(fails, &l.call, false, unlikely));
    l.runtime(Call::kcAssumptionFails, {l.operand(1), l.operand(2), l.operand(3)});
  } else if (name == "__kcheck_array") { // an annotation
    l.runtime(Call::kcArrayPromise,
              {l.operand(0), l.operand(1), l.operand(2), l.operand(3), l.operand(4), l.operand(5)});
  } else if (name == "__assertfail") {
    l.runtime(Call::kcAssertFail, {l.operand(0), l.operand(1), l.operand(2), l.operand(3)});
  } else if (name == "__assert_fail") {
    l.runtime(Call::kcAssertFail, {l.operand(0), l.operand(1), l.operand(2), l.operand(3)});
  } else if (name == "llvm.trap" || name == "llvm.debugtrap" || name == "llvm.ubsantrap" || name == "abort" ||
             name == "__cxa_pure_virtual") {
    l.trap();
    value = l.type()->isVoidTy() ? nullptr : llvm::Constant::getNullValue(l.type());
  } else if (name.starts_with("llvm.prefetch")) {
    value = nullptr;
  } else if (name == "memcpy" || name == "memmove") {
    value = l.operand(0);
    auto align = llvm::Align(1);
    l.sited(name == "memcpy" ? l.b.CreateMemCpy(l.operand(0), align, l.operand(1), align, l.operand(2))
                             : l.b.CreateMemMove(l.operand(0), align, l.operand(1), align, l.operand(2)));
  } else if (name == "memset") {
    value = l.operand(0);
    auto* byte = l.b.CreateTrunc(l.operand(1), l.b.getInt8Ty());
    l.sited(l.b.CreateMemSet(l.operand(0), byte, l.operand(2), llvm::Align(1)));
  } else if (isMathLibrary(name)) {
    return lowerMath(l, name, value);
  } else if (name.starts_with("llvm.") || isOurs(name)) {
    return false;
  } else {
    value = l.unsupported("call of `" + source + "` in device code");
  }
  return true;
}

void replaceGridBarrier(DeviceCode& code) {
  for (llvm::Function& function : code.module) {
    bool arrives = isGridBarrierPart(function.getName(), "sync_grids_arrive");
    bool waits = isGridBarrierPart(function.getName(), "sync_grids_wait");
    if (function.isDeclaration() || (!arrives && !waits)) continue;
    llvm::DISubprogram* scope = function.getSubprogram();
    function.deleteBody();
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.setSubprogram(scope);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(function.getContext(), "entry", &function));
    if (scope)
      builder.SetCurrentDebugLocation(
          llvm::DILocation::get(function.getContext(), scope->getLine(), 0, scope));
    if (waits) waitMarker(builder, {.kind = abi::WaitKind::GridSync});
    if (function.getReturnType()->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(llvm::Constant::getNullValue(function.getReturnType()));
  }
}

} // namespace kcheck::instrument
