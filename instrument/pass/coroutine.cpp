// What a wait is in the end. In a kernel that is a coroutine, the fields of abi::Wait are filled and the
// thread suspends (llvm.coro, switched-resume); anywhere else kcBlock suspends the fibre inside the call.
#include "instrument/pass/markers.h"
#include "instrument/pass/stages.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstddef>

namespace kcheck::instrument {

namespace {

constexpr unsigned kFrameAlign = 16;

/// The frame of llvm.coro around a kernel's entry.
class Coroutine {
public:
  explicit Coroutine(llvm::Function& entry) : entry(entry), module(*entry.getParent()) { begin(); }

  /// Suspends before `where`; execution goes on there.
  void suspendBefore(llvm::Instruction& where) {
    llvm::BasicBlock* before = where.getParent();
    llvm::BasicBlock* after = llvm::SplitBlock(before, &where);
    before->getTerminator()->eraseFromParent();
    llvm::IRBuilder<> builder(before);
    auto* suspended = suspend(builder, false);
    auto* choice = builder.CreateSwitch(suspended, leave, 2);
    choice->addCase(builder.getInt8(0), after);
    choice->addCase(builder.getInt8(1), leave);
    result->addIncoming(handle, before);
    result->addIncoming(handle, before);
  }

  /// Returns become the one final suspension, after which the frame's resume function is null.
  void finish() {
    auto* done = llvm::BasicBlock::Create(module.getContext(), "done", &entry);
    for (llvm::BasicBlock& block : entry) {
      auto* ret = llvm::dyn_cast_or_null<llvm::ReturnInst>(block.getTerminator());
      if (!ret || &block == leave) continue;
      llvm::BranchInst::Create(done, &block);
      ret->eraseFromParent();
    }
    llvm::IRBuilder<> builder(done);
    auto* suspended = suspend(builder, true);
    auto* choice = builder.CreateSwitch(suspended, leave, 1);
    choice->addCase(builder.getInt8(1), leave);
    auto* null = llvm::ConstantPointerNull::get(builder.getPtrTy());
    result->addIncoming(null, done);
    result->addIncoming(null, done);
  }

private:
  llvm::Function& entry;
  llvm::Module& module;
  llvm::Value* handle = nullptr;
  llvm::BasicBlock* leave = nullptr;
  llvm::PHINode* result = nullptr; ///< of `start`: the handle when suspended, null when finished

  llvm::Function* intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types = {}) {
    return llvm::Intrinsic::getDeclaration(&module, id, types);
  }

  void begin() {
    entry.addFnAttr(llvm::Attribute::PresplitCoroutine);
    llvm::IRBuilder<> builder(&*entry.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    auto* null = llvm::ConstantPointerNull::get(builder.getPtrTy());
    auto* id = builder.CreateCall(intrinsic(llvm::Intrinsic::coro_id),
                                  {builder.getInt32(kFrameAlign), null, null, null});
    auto* size = builder.CreateCall(intrinsic(llvm::Intrinsic::coro_size, {builder.getInt64Ty()}));
    auto* memory = builder.CreateCall(runtimeCall(module, Call::kcFrame), {entry.getArg(0), size});
    handle = builder.CreateCall(intrinsic(llvm::Intrinsic::coro_begin), {id, memory});
    leave = llvm::BasicBlock::Create(module.getContext(), "leave", &entry);
    llvm::IRBuilder<> last(leave);
    result = last.CreatePHI(builder.getPtrTy(), 4);
    last.CreateCall(intrinsic(llvm::Intrinsic::coro_end),
                    {handle, last.getFalse(), llvm::ConstantTokenNone::get(module.getContext())});
    last.CreateRet(result);
  }

  llvm::Value* suspend(llvm::IRBuilder<>& builder, bool isFinal) {
    return builder.CreateCall(intrinsic(llvm::Intrinsic::coro_suspend),
                              {llvm::ConstantTokenNone::get(module.getContext()), builder.getInt1(isFinal)});
  }
};

void storeField(llvm::IRBuilder<>& builder, llvm::Value* thread, std::size_t offset, llvm::Value* value) {
  builder.CreateStore(value, byteOffset(builder, thread, offsetof(abi::ThreadContext, wait) + offset));
}

void lowerWait(DeviceCode& code, llvm::CallInst& marker, Coroutine* coroutine,
               std::map<std::string, std::uint32_t>& sites) {
  llvm::IRBuilder<> builder(&marker);
  llvm::Value* thread = marker.getFunction()->getArg(0);
  std::uint32_t site = code.sites.add(abi::SiteKind::Sync, 0, marker.getDebugLoc());
  if (isUnaligned(marker)) code.sites[site].flags |= abi::SiteUnalignedBarrier;
  const SiteRow& row = code.sites[site];
  auto [known, isNew] =
      sites.try_emplace(row.file + ":" + std::to_string(row.line) + ":" + std::to_string(row.column), site);
  const std::size_t fields[] = {offsetof(abi::Wait, kind), offsetof(abi::Wait, a), offsetof(abi::Wait, b),
                                offsetof(abi::Wait, c),    offsetof(abi::Wait, d), offsetof(abi::Wait, e)};
  bool isYield = waitKindOf(marker) == abi::WaitKind::Yield;
  for (unsigned i = 0; i < (isYield ? 2 : 6); ++i)
    storeField(builder, thread, fields[i], marker.getArgOperand(i));
  storeField(builder, thread, offsetof(abi::Wait, site), builder.getInt32(known->second));
  if (coroutine)
    coroutine->suspendBefore(marker);
  else
    builder.CreateCall(runtimeCall(code.module, Call::kcBlock), {thread});
  builder.SetInsertPoint(&marker);
  if (!marker.use_empty()) {
    auto* wait = byteOffset(builder, thread, offsetof(abi::ThreadContext, wait));
    llvm::Value* answer = llvm::PoisonValue::get(marker.getType());
    auto* value = loadField(builder, builder.getInt64Ty(), wait, offsetof(abi::Wait, result));
    auto* predicate = loadField(builder, builder.getInt32Ty(), wait, offsetof(abi::Wait, predicate));
    answer = builder.CreateInsertValue(builder.CreateInsertValue(answer, value, 0), predicate, 1);
    marker.replaceAllUsesWith(answer);
  }
  marker.eraseFromParent();
}

} // namespace

void lowerWaits(DeviceCode& code) {
  std::map<std::string, std::uint32_t> sites;
  for (llvm::Function& function : code.module) {
    std::vector<llvm::CallInst*> markers;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (isWaitMarker(instruction)) markers.push_back(llvm::cast<llvm::CallInst>(&instruction));
    KernelCode* kernel = code.kernelOf(function);
    bool isCoroutine = kernel && kernel->suspension == Suspension::Coroutine;
    std::optional<Coroutine> coroutine;
    if (isCoroutine) coroutine.emplace(function);
    for (llvm::CallInst* marker : markers)
      lowerWait(code, *marker, isCoroutine ? &*coroutine : nullptr, sites);
    if (isCoroutine) coroutine->finish();
  }
}

} // namespace kcheck::instrument
