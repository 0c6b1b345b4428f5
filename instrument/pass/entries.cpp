// The entry of each kernel: takes the packed arguments, calls the body. Decides how the kernel's threads
// wait. What can wait is inlined into the entry, so that a stackless coroutine is enough; recursion and calls
// through pointers that lead to a wait need a stack of their own (a fibre).
#include "instrument/pass/call_graph.h"
#include "instrument/pass/markers.h"
#include "instrument/pass/stages.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>

namespace kcheck::instrument {

namespace {

constexpr unsigned kLargestCoroutine = 400000; ///< instructions; beyond it a fibre serves

class Waiting {
public:
  explicit Waiting(llvm::Module& module) : graph(module) {
    for (llvm::Function* function : graph.calleesFirst())
      for (llvm::Instruction& instruction : llvm::instructions(*function))
        if (isWaitMarker(instruction) || isCallTo(instruction, Call::kcExit)) waiting.insert(function);
    for (bool changed = true; changed;) {
      changed = false;
      for (llvm::Function* function : graph.calleesFirst())
        if (!waiting.contains(function) &&
            (waitsIn(graph.direct(*function)) || waitsIn(graph.indirect(*function))))
          changed |= waiting.insert(function).second;
    }
  }

  /// Contains a wait, or an `exit`, which can be a plain return only where everything is inlined.
  bool contains(llvm::Function& function) const { return waiting.contains(&function); }

  Suspension suspensionOf(llvm::Function& body) const {
    if (!waiting.contains(&body)) return Suspension::Never;
    std::vector<llvm::Function*> path;
    std::set<llvm::Function*> done;
    return canInline(body, path, done) ? Suspension::Coroutine : Suspension::Fibre;
  }

private:
  CallGraph graph;
  std::set<llvm::Function*> waiting;

  bool waitsIn(const std::vector<llvm::Function*>& functions) const {
    return std::any_of(functions.begin(), functions.end(),
                       [&](llvm::Function* f) { return waiting.contains(f); });
  }

  bool canInline(llvm::Function& function, std::vector<llvm::Function*>& path,
                 std::set<llvm::Function*>& done) const {
    if (std::find(path.begin(), path.end(), &function) != path.end()) return false;
    if (!done.insert(&function).second) return true;
    if (waitsIn(graph.indirect(function))) return false;
    path.push_back(&function);
    bool all = true;
    for (llvm::Function* callee : graph.direct(function))
      if (waiting.contains(callee)) all &= canInline(*callee, path, done);
    path.pop_back();
    return all;
  }
};

/// Inlines calls of functions that wait until none is left. False when the entry grows out of hand.
bool inlineWaiting(llvm::Function& entry, const Waiting& waiting) {
  for (bool again = true; again;) {
    again = false;
    if (entry.getInstructionCount() > kLargestCoroutine) return false;
    std::vector<llvm::CallInst*> work;
    for (llvm::Instruction& instruction : llvm::instructions(entry))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        if (llvm::Function* callee = call->getCalledFunction(); callee && waiting.contains(*callee))
          work.push_back(call);
    for (llvm::CallInst* call : work) {
      llvm::InlineFunctionInfo info;
      bool done = llvm::InlineFunction(*call, info, false, nullptr, /*InsertLifetime=*/false).isSuccess();
      if (!done) return false;
      again = true;
    }
  }
  return true;
}

bool hasWait(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (isWaitMarker(instruction)) return true;
  return false;
}

/// In an entry that holds all of its kernel, `exit` is a return.
void returnAtExits(llvm::Function& entry) {
  std::vector<llvm::Instruction*> exits;
  for (llvm::Instruction& instruction : llvm::instructions(entry))
    if (isCallTo(instruction, Call::kcExit)) exits.push_back(&instruction);
  for (llvm::Instruction* exit : exits) {
    llvm::BasicBlock* block = exit->getParent();
    llvm::SplitBlock(block, exit);
    block->getTerminator()->eraseFromParent();
    llvm::IRBuilder<>(block).CreateRet(
        llvm::ConstantPointerNull::get(llvm::PointerType::get(entry.getContext(), 0)));
  }
  if (!exits.empty()) llvm::removeUnreachableBlocks(entry);
}

/// Where each parameter lies in the argument buffer; returns the call's arguments.
std::vector<llvm::Value*> unpack(KernelCode& kernel, llvm::IRBuilder<>& builder, llvm::Value* buffer) {
  const llvm::DataLayout& layout = kernel.body->getParent()->getDataLayout();
  std::vector<llvm::Value*> arguments;
  std::uint64_t offset = 0;
  for (llvm::Argument& parameter : kernel.body->args()) {
    bool isStruct = parameter.hasByValAttr();
    llvm::Type* type = isStruct ? parameter.getParamByValType() : parameter.getType();
    llvm::Align align = layout.getABITypeAlign(type);
    if (isStruct && parameter.getParamAlign()) align = std::max(align, *parameter.getParamAlign());
    offset = llvm::alignTo(offset, align);
    std::uint64_t bytes = layout.getTypeAllocSize(type);
    llvm::Value* place = byteOffset(builder, buffer, offset);
    arguments.push_back(isStruct ? place : builder.CreateAlignedLoad(type, place, align));
    kernel.parameters.push_back({std::uint32_t(offset), std::uint32_t(bytes)});
    offset += bytes;
  }
  kernel.argumentBytes = std::uint32_t(offset);
  return arguments;
}

llvm::CallInst* writeEntry(DeviceCode& code, KernelCode& kernel) {
  auto* pointer = llvm::PointerType::get(code.module.getContext(), 0);
  auto* type = llvm::FunctionType::get(pointer, {pointer, pointer}, false);
  kernel.entry = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                        "kcheck.entry." + kernel.symbol, code.module);
  kernel.entry->addFnAttr(llvm::Attribute::NoUnwind);
  kernel.entry->setSubprogram(nullptr);
  auto* block = llvm::BasicBlock::Create(code.module.getContext(), "entry", kernel.entry);
  llvm::IRBuilder<> builder(block);
  auto* call = builder.CreateCall(kernel.body, unpack(kernel, builder, kernel.entry->getArg(1)));
  for (llvm::Argument& parameter : kernel.body->args())
    if (parameter.hasByValAttr())
      call->addParamAttr(parameter.getArgNo(), llvm::Attribute::getWithByValType(
                                                   call->getContext(), parameter.getParamByValType()));
  builder.CreateRet(llvm::ConstantPointerNull::get(pointer));
  return call;
}

} // namespace

void buildEntries(DeviceCode& code) {
  const Waiting waiting(code.module);
  for (KernelCode& kernel : code.kernels) {
    kernel.suspension = waiting.suspensionOf(*kernel.body);
    llvm::CallInst* call = writeEntry(code, kernel);
    if (kernel.suspension == Suspension::Fibre) continue;
    llvm::InlineFunctionInfo info;
    bool inlined = llvm::InlineFunction(*call, info, false, nullptr, /*InsertLifetime=*/false).isSuccess();
    assert(inlined && "a kernel's body can be inlined into its entry");
    if (kernel.suspension == Suspension::Coroutine && !inlineWaiting(*kernel.entry, waiting))
      kernel.suspension = Suspension::Fibre;
    if (kernel.suspension != Suspension::Coroutine) continue;
    returnAtExits(*kernel.entry);
    if (!hasWait(*kernel.entry)) kernel.suspension = Suspension::Never;
  }
  for (KernelCode& kernel : code.kernels) promoteScalars(code, *kernel.entry);
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::Function& function : llvm::make_early_inc_range(code.module)) {
      function.removeDeadConstantUsers();
      KernelCode* kernel = code.kernelOf(function);
      if (!function.use_empty() || function.isDeclaration() || (kernel && kernel->entry == &function))
        continue;
      if (kernel) kernel->body = nullptr;
      function.eraseFromParent();
      changed = true;
    }
  }
}

} // namespace kcheck::instrument
