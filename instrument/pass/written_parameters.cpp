// Through which of its parameters a kernel can write: what none of them reaches, the launch only reads, and
// the runtime need not remember who read it (runtime/core/quiet.h). Every write counts, of functions that are
// called too; one whose pointer comes from anywhere else (memory, a number) makes the answer "unknown".
#include "instrument/pass/call_graph.h"
#include "instrument/pass/markers.h"
#include "instrument/pass/stages.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace kcheck::instrument {

namespace {

/// What a function writes through pointers that it is handed.
struct Writes {
  bool unknown = false;
  std::set<unsigned> arguments;          ///< by number
  std::set<std::uint32_t> bufferOffsets; ///< of an entry: where the pointers lie in the kernel's arguments
};

class WriteFinder {
public:
  WriteFinder(llvm::Module& module, const CallGraph& graph, const std::set<const llvm::Function*>& entries)
      : layout(module.getDataLayout()), graph(graph), entries(entries) {
    for (llvm::Function* function : graph.calleesFirst()) look(*function);
  }

  const Writes& of(const llvm::Function& function) { return found[&function]; }

private:
  const llvm::DataLayout& layout;
  const CallGraph& graph;
  const std::set<const llvm::Function*>& entries;
  std::map<const llvm::Function*, Writes> found;

  void look(llvm::Function& function) {
    Writes& writes = found[&function];
    if (graph.isRecursive(function)) writes.unknown = true;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (writes.unknown) return;
      if (instruction.getMetadata(kOwnMetadata)) continue; // of the thread's context
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
        add(writes, function, store->getPointerOperand());
      else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
        add(writes, function, update->getPointerOperand());
      else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
        add(writes, function, exchange->getPointerOperand());
      else if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction))
        add(writes, function, memory->getRawDest());
      else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        addCall(writes, function, *call);
    }
  }

  /// Runtime calls that change nothing the kernel was handed.
  static bool onlyLooks(const llvm::CallBase& call) {
    for (Call which :
         {Call::kcRead, Call::kcWrite, Call::kcAtomic, Call::kcFence, Call::kcLocal, Call::kcUnwritten,
          Call::kcAsyncCommit, Call::kcAsyncWait, Call::kcPrintf, Call::kcMalloc, Call::kcFree,
          Call::kcAssertFail, Call::kcAssumptionFails, Call::kcArrayPromise, Call::kcTrap, Call::kcCallee,
          Call::kcExit, Call::kcClock, Call::kcSpace})
      if (isCallTo(call, which)) return true;
    return isThreadMarker(call) ||
           (isWaitMarker(call) && waitKindOf(llvm::cast<llvm::CallInst>(call)) != abi::WaitKind::Matrix);
  }

  void addCall(Writes& writes, llvm::Function& function, const llvm::CallBase& call) {
    if (call.onlyReadsMemory() || onlyLooks(call)) return;
    const llvm::Function* callee = call.getCalledFunction();
    if (!callee) {
      writes.unknown = true;
      return;
    }
    const Writes* known = !callee->isDeclaration() ? &found[callee] : nullptr;
    if (known && known->unknown) writes.unknown = true;
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      const llvm::Value* argument = call.getArgOperand(i);
      if (known ? known->arguments.contains(i) : argument->getType()->isPointerTy())
        add(writes, function, argument);
    }
  }

  void add(Writes& writes, const llvm::Function& function, const llvm::Value* pointer) {
    llvm::SmallVector<const llvm::Value*> objects;
    llvm::getUnderlyingObjects(pointer, objects, nullptr, 0);
    bool isEntry = entries.contains(&function);
    for (const llvm::Value* object : objects) {
      if (llvm::isa<llvm::AllocaInst, llvm::GlobalVariable, llvm::ConstantPointerNull, llvm::UndefValue>(
              object))
        continue;
      if (auto* argument = llvm::dyn_cast<llvm::Argument>(object)) {
        if (!isEntry) writes.arguments.insert(argument->getArgNo());
        if (isEntry && argument == function.getArg(1))
          writes.unknown = true; // the pointers themselves change
        continue;
      }
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(object);
          call && (isThreadMarker(*call) || isCallTo(*call, Call::kcMalloc)))
        continue;
      auto* load = llvm::dyn_cast<llvm::LoadInst>(object);
      std::int64_t offset = 0;
      if (isEntry && load &&
          llvm::GetPointerBaseWithConstantOffset(load->getPointerOperand(), offset, layout) ==
              function.getArg(1))
        writes.bufferOffsets.insert(std::uint32_t(offset));
      else
        writes.unknown = true;
    }
  }
};

} // namespace

void findWrittenParameters(DeviceCode& code) {
  if (!code.options.deferred) return; // every access is checked
  const CallGraph graph(code.module);
  std::set<const llvm::Function*> entries;
  for (const KernelCode& kernel : code.kernels) entries.insert(kernel.entry);
  WriteFinder finder(code.module, graph, entries);
  for (KernelCode& kernel : code.kernels) {
    const Writes& writes = finder.of(*kernel.entry);
    if (writes.unknown) continue;
    kernel.traits |= abi::TraitWritesKnown;
    kernel.written.assign(writes.bufferOffsets.begin(), writes.bufferOffsets.end());
  }
}

} // namespace kcheck::instrument
