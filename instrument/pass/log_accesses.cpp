// Where only barriers and the kernel's end order threads, nothing is lost when checks wait until the warp
// does. There each access writes its address into the warp's log (one word, in place) instead of calling the
// runtime. Writes also keep what was in memory before, so that the runtime can take the warp back and show a
// race as it came about.
#include "instrument/pass/call_graph.h"
#include "instrument/pass/markers.h"
#include "instrument/pass/stages.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstddef>
#include <limits>

namespace kcheck::instrument {

namespace {

constexpr std::uint32_t kOrdersFinely = abi::TraitFences | abi::TraitWarpSync | abi::TraitNamedBarrier;
constexpr std::size_t kMostSegments = std::numeric_limits<std::uint16_t>::max();

bool isHook(const llvm::Instruction& instruction) {
  return isCallTo(instruction, Call::kcRead) || isCallTo(instruction, Call::kcWrite) ||
         isCallTo(instruction, Call::kcAtomic);
}

/// The size of an access that can be logged, else 0: copies of variable or unusual length call the runtime.
unsigned loggedBytes(const llvm::CallInst& hook) {
  auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(hook.getArgOperand(2));
  if (!bytes) return 0;
  std::uint64_t size = bytes->getZExtValue();
  return size == 1 || size == 2 || size == 4 || size == 8 || size == 16 ? unsigned(size) : 0;
}

class LogWriter {
public:
  LogWriter(DeviceCode& code, llvm::Function& function)
      : code(code), function(function), thread(function.getArg(0)),
        word(llvm::Type::getInt64Ty(function.getContext())),
        pointer(llvm::PointerType::get(function.getContext(), 0)),
        unlikely(llvm::MDBuilder(function.getContext()).createUnlikelyBranchWeights()) {}

  void run() {
    findSegments();
    if (segments.empty() || code.segments.size() + segments.size() > kMostSegments) return;
    llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
    place = builder.CreateAlloca(pointer, nullptr, "log");
    builder.CreateStore(loadField(builder, pointer, thread, offsetof(abi::ThreadContext, log)), place);
    for (llvm::Instruction* call : moves) {
      builder.SetInsertPoint(call->getNextNode());
      builder.CreateStore(loadField(builder, pointer, thread, offsetof(abi::ThreadContext, log)), place);
    }
    for (const std::vector<llvm::CallInst*>& segment : segments) write(segment);
  }

private:
  DeviceCode& code;
  llvm::Function& function;
  llvm::Value* thread;
  llvm::Type* word;
  llvm::PointerType* pointer;
  llvm::MDNode* unlikely;
  llvm::AllocaInst* place = nullptr; ///< a copy of ThreadContext::log, which becomes a register
  std::vector<std::vector<llvm::CallInst*>> segments;
  std::vector<llvm::Instruction*> moves; ///< calls after which the log may stand elsewhere

  void findSegments() {
    for (llvm::BasicBlock& block : function) {
      std::vector<llvm::CallInst*> segment;
      unsigned rows = 0;
      auto end = [&] {
        if (!segment.empty()) segments.push_back(std::move(segment));
        segment.clear();
        rows = 0;
      };
      for (llvm::Instruction& instruction : block) {
        auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (!call || call->doesNotAccessMemory()) continue;
        auto* callee = call->getCalledFunction();
        if (callee && callee->isIntrinsic()) continue;
        if (isHook(*call) && loggedBytes(*llvm::cast<llvm::CallInst>(call))) {
          segment.push_back(llvm::cast<llvm::CallInst>(call));
          if ((rows += 3) + 3 > abi::kLargestSegment) end();
          continue;
        }
        end();
        bool isDevice = !call->isInlineAsm() && (!callee || !callee->isDeclaration());
        if (isDevice || isWaitMarker(instruction)) moves.push_back(&instruction);
      }
      end();
    }
  }

  void write(const std::vector<llvm::CallInst*>& hooks) {
    std::uint64_t number = code.segments.size();
    llvm::Value* start = begin(*hooks.front());
    unsigned rows = 0, done = 0;
    abi::LogSegment segment{std::uint32_t(code.logged.size()), std::uint32_t(hooks.size()), 0, 0};
    for (llvm::CallInst* hook : hooks) {
      abi::LoggedAccess access{};
      access.kind = isCallTo(*hook, Call::kcRead)    ? abi::SiteKind::Read
                    : isCallTo(*hook, Call::kcWrite) ? abi::SiteKind::Write
                                                     : abi::SiteKind::Atomic;
      access.bytes = std::uint8_t(loggedBytes(*hook));
      access.row = std::uint16_t(rows++);
      access.site = std::uint32_t(llvm::cast<llvm::ConstantInt>(hook->getArgOperand(3))->getZExtValue());
      if (access.kind == abi::SiteKind::Atomic)
        access.order = std::uint32_t(llvm::cast<llvm::ConstantInt>(hook->getArgOperand(4))->getZExtValue());
      if (access.kind != abi::SiteKind::Read) {
        access.content = std::uint16_t(rows);
        rows += access.bytes == 16 ? 2 : 1;
      }
      logOne(*hook, access, start, done++, number);
      code.logged.push_back(access);
    }
    segment.rows = rows;
    code.segments.push_back(segment);
    llvm::IRBuilder<> builder(hooks.back());
    auto* next = byteOffset(builder, start, rows * abi::kLogRowBytes);
    builder.CreateStore(next, place);
    builder.CreateStore(next, byteOffset(builder, thread, offsetof(abi::ThreadContext, log)));
    for (llvm::CallInst* hook : hooks) hook->eraseFromParent();
  }

  /// Room for the segment: the runtime empties a log that is full.
  llvm::Value* begin(llvm::CallInst& first) {
    llvm::IRBuilder<> builder(&first);
    auto* now = builder.CreateLoad(pointer, place);
    auto* bit = builder.CreateAnd(builder.CreatePtrToInt(now, word), abi::kLogBytes);
    auto* then = llvm::SplitBlockAndInsertIfThen(builder.CreateIsNotNull(bit), &first, false, unlikely);
    builder.SetInsertPoint(then);
    auto* fresh = builder.CreateCall(runtimeCall(code.module, Call::kcLogFull), {thread});
    builder.SetInsertPoint(&first);
    auto* start = builder.CreatePHI(pointer, 2);
    start->addIncoming(now, now->getParent());
    start->addIncoming(fresh, then->getParent());
    return start;
  }

  void logOne(llvm::CallInst& hook, const abi::LoggedAccess& access, llvm::Value* start, unsigned done,
              std::uint64_t number) {
    llvm::IRBuilder<> builder(&hook);
    llvm::Value* address = hook.getArgOperand(1);
    auto* number64 = builder.CreatePtrToInt(address, word);
    auto* offset = builder.CreateSub(number64, builder.getInt64(abi::kArenaStart));
    auto* foreign = builder.CreateICmpUGE(offset, builder.getInt64(abi::kArenaExtent - 16));
    llvm::Instruction *then = nullptr, *otherwise = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(foreign, &hook, &then, &otherwise, unlikely);
    builder.SetInsertPoint(then);
    auto* reported = builder.CreateCall(
        runtimeCall(code.module, Call::kcForeign),
        {thread, address, hook.getArgOperand(2), hook.getArgOperand(3), start, builder.getInt32(done)});
    builder.SetInsertPoint(otherwise);
    std::vector<llvm::Value*> contents;
    if (access.kind != abi::SiteKind::Read) contents = loadContents(builder, address, access.bytes);

    builder.SetInsertPoint(&hook);
    auto join = [&](llvm::Value* usual, llvm::Value* odd) {
      auto* value = builder.CreatePHI(word, 2);
      value->addIncoming(odd, then->getParent());
      value->addIncoming(usual, otherwise->getParent());
      return value;
    };
    llvm::Value* logged = join(number64, reported);
    for (llvm::Value*& content : contents) content = join(content, builder.getInt64(0));
    if (access.row == 0) logged = builder.CreateOr(logged, builder.getInt64(number << 48));
    builder.CreateStore(logged, byteOffset(builder, start, access.row * abi::kLogRowBytes));
    for (std::size_t i = 0; i < contents.size(); ++i)
      builder.CreateStore(contents[i], byteOffset(builder, start, (access.content + i) * abi::kLogRowBytes));
  }

  std::vector<llvm::Value*> loadContents(llvm::IRBuilder<>& builder, llvm::Value* address, unsigned bytes) {
    auto load = [&](unsigned size, unsigned offset) {
      auto* value = builder.CreateAlignedLoad(builder.getIntNTy(8 * size),
                                              byteOffset(builder, address, offset), llvm::Align(1));
      return builder.CreateZExt(value, word);
    };
    if (bytes == 16) return {load(8, 0), load(8, 8)};
    return {load(bytes, 0)};
  }
};

} // namespace

void logAccesses(DeviceCode& code) {
  if (!code.options.checks || !code.options.deferred) return;
  if (code.options.schedule == Schedule::Lockstep)
    return; // lockstep stops at each access
  const CallGraph graph(code.module);
  // A function that kernels of both sorts reach has one form only: calls.
  std::set<const KernelCode*> calling;
  std::set<llvm::Function*> excluded;
  for (bool changed = true; changed;) {
    changed = false;
    for (const KernelCode& kernel : code.kernels) {
      std::set<llvm::Function*> reached = graph.reachable(*kernel.entry);
      bool mixed = std::any_of(reached.begin(), reached.end(), [&](auto* f) { return excluded.contains(f); });
      if (!(kernel.traits & kOrdersFinely) && !mixed) continue;
      if (!calling.insert(&kernel).second) continue;
      excluded.insert(reached.begin(), reached.end());
      changed = true;
    }
  }
  std::set<llvm::Function*> logged;
  for (KernelCode& kernel : code.kernels) {
    if (calling.contains(&kernel)) continue;
    kernel.traits |= abi::TraitLogged;
    logged.merge(graph.reachable(*kernel.entry));
  }
  for (llvm::Function* function : graph.calleesFirst()) // an order that does not depend on addresses
    if (logged.contains(function)) LogWriter(code, *function).run();
}

} // namespace kcheck::instrument
