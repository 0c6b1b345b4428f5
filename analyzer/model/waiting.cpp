// What loops wait for, and the locks that threads hold: all that may order threads besides barriers.
#include "analyzer/model/execution.h"

#include "llvm/IR/IntrinsicInst.h"

#include <fmt/format.h>

#include <set>

using namespace llvm;

namespace kcheck::analyzer {

/// Behind a loop that waits for an atomic or a flag, a condition that names this as what may order threads.
Expr Execution::waited(const Instruction& instruction) {
  auto waiting = state.afterWaiting.find(instruction.getParent());
  if (waiting == state.afterWaiting.end()) return exprs.boolean(true);
  Symbol* symbol = local(*waiting->second, "waited", "past the waiting loop", 1);
  symbol->exact = false;
  symbol->cause = {CauseKind::Wait, "the result of the atomic operation or flag that the loop at " +
                                        state.lineText(*waiting->second) + " waits for"};
  if (state.dominators.dominates(waiting->second, &instruction)) // else another thread may have waited for it
    state.model.firstExits[symbol] = {nullptr, exprs.boolean(true)};
  return exprs.of(symbol);
}

/// Under a lock that is not followed, or without its fences, a condition that names it as what may order
/// threads.
Expr Execution::underLock(const Instruction& instruction) {
  Symbol* symbol = local(instruction, "locked", "under a lock", 1);
  symbol->exact = false;
  symbol->cause = {CauseKind::Wait, "the lock that is held at " + state.lineText(instruction)};
  state.model.underLocks.insert(symbol);
  return exprs.of(symbol);
}

bool isInvariant(const Value* v, const Loop& loop, unsigned depth) {
  auto* instruction = dyn_cast<Instruction>(v);
  if (!instruction || !loop.contains(instruction)) return true;
  auto* intrinsic = dyn_cast<IntrinsicInst>(instruction); // indices and dimensions
  bool computes = isa<GetElementPtrInst>(instruction) || isa<CastInst>(instruction) ||
                  isa<BinaryOperator>(instruction) || (intrinsic && intrinsic->doesNotAccessMemory());
  return computes && depth > 0 && all_of(instruction->operands(), [&](const Use& operand) {
           return isInvariant(operand, loop, depth - 1);
         });
}

/// The locks that the thread holds here, where their addresses are known.
std::vector<LockPlace> Execution::locksAt(const Instruction& instruction) {
  std::vector<LockPlace> result;
  for (const HeldLock& lock : state.sections.heldAt(instruction)) {
    bool known = true;
    if (auto* made = dyn_cast<Instruction>(lock.pointer))
      for (const Loop* loop = state.loopInfo.getLoopFor(made->getParent()); loop;
           loop = loop->getParentLoop())
        known = known && (loop->contains(&instruction) || isInvariant(made, *loop));
    if (!known) continue;
    auto places = state.objects.places(value(lock.pointer));
    if (places.size() != 1 || !state.locks.count(places[0].object)) continue;
    Expr offset = places[0].offset;
    if (lock.startsAs)
      state.assume(fmt::format("the lock `{}` is {} or {} when the kernel starts",
                               state.objects[places[0].object].name, lock.startsAs->first,
                               lock.startsAs->second));
    if (lock.takenFor) offset = state.asThread(*lock.takenFor, *lock.by, offset);
    if (!lock.takenFor || variesOf(offset) != Varies::ByThread)
      result.push_back({places[0].object, offset, lock.taken, lock.givenBack, lock.takenFor.has_value(),
                        lock.turn != nullptr, lock.by ? locationOf(*lock.by) : Location()});
  }
  return result;
}

/// Whether all that the kernel does with what the loop finds here is to wait: everybody comes past it in the
/// end, so that it gives the threads no different work.
bool Execution::isOnlyWaitedFor(const Instruction& polled) {
  const Loop* loop = state.loopInfo.getLoopFor(polled.getParent());
  const Value* pointer = nullptr;
  if (auto* read = dyn_cast<LoadInst>(&polled)) pointer = read->getPointerOperand();
  if (auto* update = dyn_cast<AtomicRMWInst>(&polled)) pointer = update->getPointerOperand();
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&polled)) pointer = exchange->getPointerOperand();
  if (auto* call = dyn_cast<CallInst>(&polled); call && !call->arg_empty()) pointer = call->getArgOperand(0);
  if (!state.polled.count(&polled) || !loop || !pointer || !isInvariant(pointer, *loop)) return false;
  std::vector<const Value*> todo{&polled};
  std::set<const Value*> seen;
  while (!todo.empty()) {
    const Value* one = todo.back();
    todo.pop_back();
    if (!seen.insert(one).second) continue;
    for (const User* user : one->users()) {
      auto* instruction = dyn_cast<Instruction>(user);
      if (!instruction || !loop->contains(instruction)) return false;
      if (isa<BranchInst>(instruction)) continue;
      if (instruction->mayReadOrWriteMemory() || isa<PHINode>(instruction) || instruction->isTerminator())
        return false;
      todo.push_back(instruction);
    }
  }
  if (isa<LoadInst>(polled)) return true;
  // What is taken must be given back, or else one thread alone comes past.
  for (const Place& place : state.objects.places(value(pointer))) {
    std::size_t places = 0;
    for (auto& [update, blocks] : state.updates[place.object]) places += blocks.size();
    if (places < 2) return false;
  }
  return true;
}

} // namespace kcheck::analyzer
