#include "analyzer/model/intervals.h"

#include "analyzer/model/barriers.h"

#include "llvm/IR/CFG.h"

#include <vector>

using namespace llvm;

namespace kcheck::analyzer {

Intervals intervalsOf(const Function& kernel) {
  Intervals intervals;
  for (const BasicBlock& start : kernel) {
    if (&start != &kernel.getEntryBlock() && !beginsWithBarrier(start)) continue;
    std::vector<const BasicBlock*> todo{&start};
    std::set<const BasicBlock*>& seen = intervals[&start];
    while (!todo.empty()) {
      const BasicBlock* block = todo.back();
      todo.pop_back();
      if (!seen.insert(block).second) continue;
      for (const BasicBlock* next : successors(block))
        if (!beginsWithBarrier(*next)) todo.push_back(next);
    }
  }
  return intervals;
}

} // namespace kcheck::analyzer
