// Where only barriers and the kernel's end order threads, nothing is lost when checks wait until the warp
// does. There each access writes its address into the warp's log (one word, in place) instead of calling the
// runtime. Writes also keep what was in memory before, so that the runtime can take the warp back and show a
// race as it came about.
#include "instrument/pass/call_graph.h"
#include "instrument/pass/drawing_loops.h"
#include "instrument/pass/launch_distances.h"
#include "instrument/pass/log_plan.h"
#include "instrument/pass/markers.h"
#include "instrument/pass/own_arrays.h"
#include "instrument/pass/stages.h"
#include "instrument/pass/unroll.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <map>

namespace kcheck::instrument {

namespace {

constexpr std::uint32_t kOrdersFinely = abi::TraitFences | abi::TraitWarpSync | abi::TraitNamedBarrier;
constexpr std::size_t kMostSegments = std::numeric_limits<std::uint16_t>::max();

bool isHook(const llvm::Instruction& instruction) {
  return isCallTo(instruction, Call::kcRead) || isCallTo(instruction, Call::kcWrite) ||
         isCallTo(instruction, Call::kcAtomic);
}

class LogWriter {
public:
  /// `distances` and `arrays`: of the kernel whose entry the function is, else null.
  LogWriter(DeviceCode& code, llvm::Function& function, LaunchDistances* distances, OwnArrays* arrays)
      : code(code), function(function), distances(distances), arrays(arrays), thread(function.getArg(0)),
        word(llvm::Type::getInt64Ty(function.getContext())),
        pointer(llvm::PointerType::get(function.getContext(), 0)),
        unlikely(llvm::MDBuilder(function.getContext()).createUnlikelyBranchWeights()) {}

  void run() {
    unrollShortLoops(function);
    findSegments();
    if (segments.empty() || code.segments.size() + segments.size() > kMostSegments) return;
    llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
    place = builder.CreateAlloca(pointer, nullptr, "log");
    builder.CreateStore(loadField(builder, pointer, thread, offsetof(abi::ThreadContext, log)), place);
    for (llvm::Instruction* call : moves) {
      builder.SetInsertPoint(call->getNextNode());
      builder.CreateStore(loadField(builder, pointer, thread, offsetof(abi::ThreadContext, log)), place);
    }
    const std::vector<std::size_t> ends = loopEnds();
    const std::size_t number = code.segments.size();
    for (std::size_t i = 0; i < segments.size(); ++i)
      write(segments[i], static_cast<std::uint32_t>(number + ends[i]));
  }

private:
  DeviceCode& code;
  llvm::Function& function;
  LaunchDistances* distances;
  OwnArrays* arrays;
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
        if (isDevice || isWaitMarker(instruction) || isCallTo(instruction, Call::kcTurn))
          moves.push_back(&instruction);
      }
      end();
    }
  }

  /// For each segment the last one in the innermost loop around it.
  std::vector<std::size_t> loopEnds() {
    llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    auto loopOf = [&](std::size_t i) { return loops.getLoopFor(segments[i].front()->getParent()); };
    std::map<const llvm::Loop*, std::size_t> last;
    for (std::size_t i = 0; i < segments.size(); ++i)
      for (const llvm::Loop* loop = loopOf(i); loop; loop = loop->getParentLoop()) last[loop] = i;
    std::vector<std::size_t> ends(segments.size());
    for (std::size_t i = 0; i < segments.size(); ++i) ends[i] = loopOf(i) ? last.at(loopOf(i)) : i;
    return ends;
  }

  void write(const std::vector<llvm::CallInst*>& hooks, std::uint32_t loopEnd) {
    SegmentPlan plan = planSegment(code, hooks, distances, arrays);
    std::uint64_t number = code.segments.size();
    code.segments.push_back(
        {std::uint32_t(code.logged.size()), std::uint32_t(hooks.size()), plan.rows, loopEnd});
    llvm::Value* start = begin(*hooks.front());
    unsigned done = 0;
    for (PlannedAccess& one : plan.accesses) {
      logOne(one, plan.places[one.place], start, done++, number);
      code.logged.push_back(one.access);
    }
    llvm::IRBuilder<> builder(hooks.back());
    auto* next = byteOffset(builder, start, plan.rows * abi::kLogRowBytes);
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

  void logOne(const PlannedAccess& one, LoggedPlace& row, llvm::Value* start, unsigned done,
              std::uint64_t number) {
    llvm::CallInst* hook = one.hook;
    bool first = row.accesses.front() == hook, reads = one.access.kind == abi::SiteKind::Read;
    bool isLogged = first && !row.distance;
    if (!first && reads) return;
    llvm::IRBuilder<> builder(hook);
    llvm::Value* address = hook->getArgOperand(1);
    llvm::Value* value = builder.CreatePtrToInt(address, word);
    if (first) {
      // One comparison for all: from the lowest to the end of the highest.
      auto* lowest = builder.CreateAdd(value, builder.getInt64(std::uint64_t(row.lowest) - abi::kArenaStart));
      std::uint64_t extent = abi::kArenaExtent - std::uint64_t(row.highest - row.lowest) - 16;
      row.foreign = builder.CreateICmpUGE(lowest, builder.getInt64(extent));
    }
    llvm::Instruction *then = nullptr, *otherwise = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(row.foreign, hook, &then, &otherwise, unlikely);
    builder.SetInsertPoint(then);
    llvm::Value* reported = first ? reportForeign(builder, row, start, done) : builder.getInt64(0);
    builder.SetInsertPoint(otherwise);
    std::vector<llvm::Value*> contents;
    if (!reads) contents = loadContents(builder, address, one.access.bytes);

    builder.SetInsertPoint(hook);
    auto join = [&](llvm::Value* usual, llvm::Value* odd) {
      auto* joined = builder.CreatePHI(word, 2);
      joined->addIncoming(odd, then->getParent());
      joined->addIncoming(usual, otherwise->getParent());
      return joined;
    };
    if (isLogged) value = join(value, reported);
    for (llvm::Value*& content : contents) content = join(content, builder.getInt64(0));
    auto store = [&](llvm::Value* what, std::size_t at) {
      builder.CreateStore(what, byteOffset(builder, start, at * abi::kLogRowBytes));
    };
    if (isLogged) {
      if (row.row == 0) value = builder.CreateOr(value, builder.getInt64(number << 48));
      store(value, row.row);
    }
    for (std::size_t i = 0; i < contents.size(); ++i) store(contents[i], one.access.content + i);
  }

  /// Asks the runtime about each access there; what it says of the first is logged.
  llvm::Value* reportForeign(llvm::IRBuilder<>& builder, const LoggedPlace& row, llvm::Value* start,
                             unsigned done) {
    llvm::Value* result = nullptr;
    llvm::CallInst* first = row.accesses.front();
    const auto& layout = code.module.getDataLayout();
    for (llvm::CallInst* access : row.accesses) {
      std::int64_t distance = addressSum(access->getArgOperand(1), layout).constant - row.address.constant;
      llvm::Value* address = builder.CreateGEP(builder.getInt8Ty(), first->getArgOperand(1),
                                               builder.getInt64(std::uint64_t(distance)));
      auto* call = builder.CreateCall(runtimeCall(code.module, Call::kcForeign),
                                      {thread, address, access->getArgOperand(2), access->getArgOperand(3),
                                       start, builder.getInt32(done)});
      if (!result) result = call;
    }
    return result;
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

/// An access comes before its check here: one that is misaligned must not end the program on x86, where only
/// the instructions for 16 bytes and more insist on their alignment.
void relaxAlignment(llvm::Function& function) {
  const llvm::Align kMost(8);
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      load->setAlignment(std::min(load->getAlign(), kMost));
    else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      store->setAlignment(std::min(store->getAlign(), kMost));
    else if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction))
      copy->setSourceAlignment(std::min(copy->getSourceAlign().valueOrOne(), kMost));
    if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction))
      memory->setDestAlignment(std::min(memory->getDestAlign().valueOrOne(), kMost));
  }
}

} // namespace

void logAccesses(DeviceCode& code) {
  if (!code.options.checks || !code.options.deferred) return;
  if (code.options.schedule == Schedule::Lockstep) return; // lockstep stops at each access
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
  std::set<llvm::Function*> logged, drawing;
  for (KernelCode& kernel : code.kernels) {
    if (calling.contains(&kernel)) continue;
    kernel.traits |= abi::TraitLogged;
    logged.merge(graph.reachable(*kernel.entry));
  }
  for (llvm::Function* function : graph.calleesFirst()) { // an order that does not depend on addresses
    if (!logged.contains(function)) continue;
    relaxAlignment(*function);
    if (giveWayWhereWorkIsDrawn(*function)) drawing.insert(function);
    auto kernel = std::find_if(code.kernels.begin(), code.kernels.end(),
                               [&](const KernelCode& one) { return one.entry == function; });
    if (kernel == code.kernels.end()) {
      LogWriter(code, *function, nullptr, nullptr).run();
      continue;
    }
    LaunchDistances distances(code, *kernel);
    OwnArrays arrays(code, *kernel);
    LogWriter(code, *function, &distances, &arrays).run();
    distances.finish();
  }
  for (KernelCode& kernel : code.kernels)
    if (!calling.contains(&kernel) &&
        std::ranges::any_of(graph.reachable(*kernel.entry),
                            [&](auto* function) { return drawing.contains(function); }))
      kernel.traits |= abi::TraitDraws;
}

} // namespace kcheck::instrument
