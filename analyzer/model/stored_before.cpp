// What a thread may have written on its way to a load, since it left the barrier that its run starts from.
#include "analyzer/model/execution.h"

#include "llvm/IR/CFG.h"

using namespace llvm;

namespace kcheck::analyzer {

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

/// Whether a path through the blocks leads past a write to the object and then to this place. The set of what
/// the run has written so far does not tell: a loop's body is behind it where the loop is left.
bool Execution::mayHaveStored(unsigned object, const BasicBlock* here) {
  if (!stored.count(object)) return false;
  if (storedHere.count(object) || storedAtStart.count(object)) return true;
  auto [behind, isNew] = behindStores.try_emplace(object);
  if (isNew) {
    std::vector<const BasicBlock*> next;
    for (const BasicBlock* block : reachedFrom({start ? start : &state.function.getEntryBlock()}))
      if (auto written = state.writtenIn.find(block);
          written != state.writtenIn.end() && written->second.count(object))
        for (const BasicBlock* follows : successors(block))
          if (!stopsAt(follows)) next.push_back(follows);
    behind->second = reachedFrom(std::move(next));
  }
  return behind->second.count(here) != 0;
}

} // namespace kcheck::analyzer
