// What may have changed in memory on a thread's way to a load, since it left the barrier that its run starts
// from: by its own writes, or by those of a thread that something on the way orders before the load.
#include "analyzer/model/execution.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

/// Atomics, flags and barriers of some threads: behind one of these a thread may see what another has written
/// in the same interval, without a race.
static bool mayOrder(const Instruction& instruction) {
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction)) return true;
  if (auto* read = dyn_cast<LoadInst>(&instruction)) return read->isVolatile() || read->isAtomic();
  if (barrierOf(instruction).kind != BarrierKind::None) return true;
  auto* call = dyn_cast<CallBase>(&instruction);
  if (!call || !call->mayReadOrWriteMemory()) return false;
  if (call->isInlineAsm()) return true;
  const llvm::Function* called = call->getCalledFunction();
  return called && called->isIntrinsic() &&
         (called->getName().contains("atomic") || called->getName().contains("mbarrier"));
}

/// `from` and what can be come to from there before the next barrier that ends the run.
std::set<const BasicBlock*> Execution::reachedFrom(std::vector<const BasicBlock*> from) const {
  std::set<const BasicBlock*> reached;
  while (!from.empty()) {
    const BasicBlock* block = from.back();
    from.pop_back();
    if (reached.insert(block).second)
      for (const BasicBlock* next : successors(block))
        if (!stopsAt(next)) from.push_back(next);
  }
  return reached;
}

/// What the run may come to before the next barrier.
std::set<const BasicBlock*> Execution::interval() const {
  return reachedFrom({start ? start : &state.function.getEntryBlock()});
}

bool Execution::writesIn(const BasicBlock* block, unsigned object) const {
  const auto written = state.writtenIn.find(block);
  return written != state.writtenIn.end() && written->second.count(object) != 0;
}

/// Whether a path through the blocks leads past a write to the object and then to this place. The set of what
/// the run has written so far does not tell: a loop's body is behind it where the loop is left.
bool Execution::mayHaveStored(unsigned object, const BasicBlock* here) {
  if (!stored.count(object)) return false;
  if (storedHere.count(object) || storedAtStart.count(object)) return true;
  auto [behind, isNew] = behindStores.try_emplace(object);
  if (isNew) {
    std::vector<const BasicBlock*> next;
    for (const BasicBlock* block : interval())
      if (writesIn(block, object))
        for (const BasicBlock* follows : successors(block))
          if (!stopsAt(follows)) next.push_back(follows);
    behind->second = reachedFrom(std::move(next));
  }
  return behind->second.count(here) != 0;
}

/// Whether something on the way to the load, from the barriers before it that cut, may order it behind what
/// another thread does.
bool Execution::mayHaveWaited(const Instruction& load) const {
  std::set<const BasicBlock*> seen;
  std::vector<const BasicBlock*> todo;
  auto waitsIn = [&](const BasicBlock* block, BasicBlock::const_iterator end) {
    const bool cuts = state.barrierBlocks.count(block) != 0;
    const Instruction* barrier = cuts ? block->getFirstNonPHIOrDbg() : nullptr;
    if (!cuts) todo.insert(todo.end(), pred_begin(block), pred_end(block));
    return std::any_of(block->begin(), end, [&](const Instruction& instruction) {
      return &instruction != barrier && mayOrder(instruction);
    });
  };
  if (waitsIn(load.getParent(), load.getIterator())) return true;
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (seen.insert(block).second && waitsIn(block, block->end())) return true;
  }
  return false;
}

/// Whether the thread finds there what was there when its interval began, as every other thread of the block
/// does, unless threads race. What the block's threads do not write in the interval stays in its shared
/// memory whatever they wait for.
bool Execution::isAsBefore(const Instruction& load, unsigned object) {
  const BasicBlock* here = load.getParent();
  const unsigned objects[] = {object, state.objects.unknown()};
  for (unsigned one : objects)
    if (mayHaveStored(one, here)) return false;
  if (!mayHaveWaited(load)) return true;
  if (state.objects[object].space != MemorySpace::Shared || state.cut != Cut::Block) return false;
  const auto blocks = interval();
  return std::none_of(blocks.begin(), blocks.end(), [&](const BasicBlock* block) {
    return writesIn(block, objects[0]) || writesIn(block, objects[1]);
  });
}

/// Whether in some order of threads the load finds what was there at the launch, which may be anything: the
/// thread has come to no barrier, waited for nobody and written nothing there.
bool Execution::mayFindFirst(const Instruction& load, unsigned object) {
  const BasicBlock* here = load.getParent();
  if (stops || state.launch.isOfProgram() || state.objects[object].space != MemorySpace::Global ||
      state.loopInfo.getLoopFor(here) || mayHaveStored(object, here) ||
      mayHaveStored(state.objects.unknown(), here) || mayHaveWaited(load))
    return false;
  std::set<const BasicBlock*> seen;
  std::vector<const BasicBlock*> todo{here};
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (!seen.insert(block).second) continue;
    if (state.barrierBlocks.count(block)) return false;
    todo.insert(todo.end(), pred_begin(block), pred_end(block));
  }
  return true;
}

} // namespace kcheck::analyzer
