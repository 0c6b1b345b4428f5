// What a thread knows of memory that others have written as well: at its own place it finds behind a barrier
// what it has stored there in front of it. Who else has written there meanwhile has raced.
#include "analyzer/model/execution.h"

#include "llvm/IR/CFG.h"

#include <algorithm>

using namespace llvm;

namespace kcheck::analyzer {

/// The barrier behind which the load's interval begins, in the same round of the same loops; null where there
/// are several, or none.
const BasicBlock* Execution::barrierBefore(const Instruction& load) const {
  const BasicBlock* found = nullptr;
  std::set<const BasicBlock*> seen;
  std::vector<const BasicBlock*> todo{load.getParent()};
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (!seen.insert(block).second) continue;
    if (state.barrierBlocks.count(block)) {
      if (found && found != block) return nullptr;
      found = block;
    } else if (pred_empty(block)) {
      return nullptr;
    } else {
      todo.insert(todo.end(), pred_begin(block), pred_end(block));
    }
  }
  return found && barrierLoop(found) == barrierLoop(load.getParent()) ? found : nullptr;
}

/// The innermost loop around the block whose iterations all threads run together.
const Loop* Execution::barrierLoop(const BasicBlock* block) const {
  const Loop* loop = state.loopInfo.getLoopFor(block);
  while (loop && !state.barrierLoops.count(loop)) loop = loop->getParentLoop();
  return loop;
}

/// Whether the thread comes from the store to the barrier, in the same round of the same loops, and writes
/// the object nowhere between.
bool Execution::leadsTo(const Instruction& store, const BasicBlock* barrier, unsigned object) const {
  const Loop* loop = state.loopInfo.getLoopFor(store.getParent());
  if (loop != state.loopInfo.getLoopFor(barrier)) return false;
  bool arrives = false;
  std::set<const BasicBlock*> seen;
  std::vector<const BasicBlock*> todo(succ_begin(store.getParent()), succ_end(store.getParent()));
  while (!todo.empty()) {
    const BasicBlock* block = todo.back();
    todo.pop_back();
    if (!seen.insert(block).second) continue;
    if (state.barrierBlocks.count(block)) {
      if (block != barrier) return false; // behind another one, others may write
      arrives = true;
      continue;
    }
    const bool comesRound = loop && block == loop->getHeader();
    if (comesRound || writesIn(block, object) || writesIn(block, state.objects.unknown())) return false;
    todo.insert(todo.end(), succ_begin(block), succ_end(block));
  }
  return arrives;
}

/// Notes of the content that the object has from the barrier on what the thread itself has left there.
void Execution::noteOwnStore(const Function* content, unsigned object, const BasicBlock* barrier,
                             const std::vector<Expr>& counters) {
  if (state.model.ownContents.count(content)) return;
  const Execution& past = start ? *before : *this;
  const RunAccess* store = nullptr;
  for (const RunAccess& access : past.accesses) {
    if (access.access.object != object || access.access.kind != AccessKind::Write) continue;
    if (!leadsTo(*access.instruction, barrier, object)) continue;
    if (store) return; // another way, or another write of the same block
    store = &access;
  }
  const auto isBeside = [&](const RunAccess& access) {
    return access.access.kind != AccessKind::Read && access.instruction != store->instruction &&
           access.instruction->getParent() == store->instruction->getParent() &&
           (access.access.object == object || access.access.object == state.objects.unknown());
  };
  if (!store || std::any_of(past.accesses.begin(), past.accesses.end(), isBeside) || !store->access.stored ||
      store->access.stored->width != content->width || !isConst(store->access.size, content->width / 8))
    return;
  std::vector<Expr> operands = counters;
  operands.push_back(store->access.offset);
  state.model.ownContents[content] =
      exprs.logicalOr(exprs.logicalNot(store->access.condition),
                      exprs.eq(exprs.apply(content, std::move(operands)), store->access.stored));
}

/// What a thread reads at its own place behind the barrier, where a single store writes the object at all,
/// and all threads come to it before anything could order them: another thread that writes there has raced.
/// Null where it is not so.
Expr Execution::ownStored(const Place& place, unsigned width, const BasicBlock* barrier) const {
  if (state.isUnknownWritten() || state.synchronizingObjects.count(place.object)) return nullptr;
  const Execution& past = start ? *before : *this;
  const RunAccess* store = nullptr;
  for (const RunAccess& access : past.accesses) {
    if (access.access.object != place.object || access.access.kind == AccessKind::Read) continue;
    if (store || access.access.kind == AccessKind::Atomic) return nullptr;
    store = &access;
  }
  if (!store || !store->access.stored || store->access.stored->width != width ||
      store->access.offset != place.offset || !isConst(store->access.size, width / 8) ||
      !isTrue(store->access.condition))
    return nullptr;
  const BasicBlock* home = store->instruction->getParent();
  const bool isOnly = llvm::all_of(state.writtenIn, [&](const auto& written) {
    return written.first == home || !written.second.count(place.object);
  });
  if (!isOnly || state.loopInfo.getLoopFor(home) || !leadsTo(*store->instruction, barrier, place.object) ||
      past.mayHaveWaited(*store->instruction))
    return nullptr;
  return store->access.stored;
}

} // namespace kcheck::analyzer
