#include "instrument/pass/markers.h"

#include <llvm/IR/Module.h>

namespace kcheck::instrument {

namespace {
constexpr const char* kThread = "kcheck.thread";
constexpr const char* kWait = "kcheck.wait";
constexpr const char* kUnaligned = "kcheck.unaligned";

bool calls(const llvm::Instruction& instruction, llvm::StringRef name) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == name;
}

llvm::Module& moduleOf(llvm::IRBuilderBase& builder) { return *builder.GetInsertBlock()->getModule(); }
} // namespace

llvm::Value* threadMarker(llvm::IRBuilderBase& builder) {
  auto callee =
      moduleOf(builder).getOrInsertFunction(kThread, llvm::FunctionType::get(builder.getPtrTy(), false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::WillReturn);
  return builder.CreateCall(callee);
}

llvm::CallInst* waitMarker(llvm::IRBuilderBase& builder, const WaitArguments& arguments) {
  auto* word = builder.getInt32Ty();
  auto* wide = builder.getInt64Ty();
  auto* result = llvm::StructType::get(wide, word);
  auto* type = llvm::FunctionType::get(result, {word, word, word, word, word, wide}, false);
  auto callee = moduleOf(builder).getOrInsertFunction(kWait, type);
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
  auto orZero = [&](llvm::Value* value, llvm::Type* to) -> llvm::Value* {
    return value ? builder.CreateZExtOrTrunc(value, to) : llvm::ConstantInt::get(to, 0);
  };
  auto* call =
      builder.CreateCall(callee, {builder.getInt32(std::uint32_t(arguments.kind)), orZero(arguments.a, word),
                                  orZero(arguments.b, word), orZero(arguments.c, word),
                                  orZero(arguments.d, word), orZero(arguments.e, wide)});
  if (arguments.unaligned) call->setMetadata(kUnaligned, llvm::MDNode::get(builder.getContext(), {}));
  return call;
}

bool isThreadMarker(const llvm::Instruction& instruction) { return calls(instruction, kThread); }
bool isWaitMarker(const llvm::Instruction& instruction) { return calls(instruction, kWait); }

bool isUnaligned(const llvm::CallInst& marker) { return marker.getMetadata(kUnaligned) != nullptr; }

abi::WaitKind waitKindOf(const llvm::CallInst& marker) {
  return abi::WaitKind(llvm::cast<llvm::ConstantInt>(marker.getArgOperand(0))->getZExtValue());
}

} // namespace kcheck::instrument
