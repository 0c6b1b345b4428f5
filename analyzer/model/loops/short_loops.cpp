// Loops of few iterations with values that have no closed form: these run one by one.
#include "analyzer/model/loops/loop_work.h"

#include "llvm/IR/CFG.h"

using namespace llvm;

namespace kcheck::analyzer {

/// Few iterations, no barrier among them, and values without closed form.
bool Execution::canUnroll(const LoopWork& work) const {
  constexpr std::int64_t kMostTrips = 32;
  constexpr unsigned kMostRounds = 256;
  if (!work.trips || !work.headerExit || work.closed.size() == work.phis.size()) return false;
  if (*work.trips > kMostTrips || rounds * unsigned(*work.trips + 1) > kMostRounds) return false;
  for (const BasicBlock* block : work.loop->blocks())
    if (barrierOf(*block->getFirstNonPHIOrDbg()).kind != BarrierKind::None) return false;
  return true;
}

void Execution::runUnrolled(LoopWork& work) {
  const Loop* loop = work.loop;
  const BasicBlock* header = loop->getHeader();
  unsigned outerRound = id.round, outerRounds = rounds;
  rounds *= unsigned(*work.trips) + 1;
  Expr condition = work.entry;
  PhiValues values;
  for (const PHINode* phi : work.phis) values[phi] = work.start[phi];
  for (std::int64_t j = 0; j <= *work.trips; ++j) {
    forgetEdges(loop);
    for (auto& [phi, v] : values) env[phi] = v;
    left.erase(loop);
    iterations[loop] = exprs.constant(32, j);
    id.round = outerRound * 40 + unsigned(j) + 1;
    setStayCondition(loop, exprs.binary(Op::Slt, iterations[loop], exprs.constant(32, *work.trips)));
    runBlock(header, condition);
    if (j < *work.trips) runScope(loop);
    stayConditions.erase(header);
    if (j == *work.trips || !backEdgePossible(loop)) break;
    readLatches(work);
    values = work.latch;
    condition = exprs.boolean(false);
    for (const BasicBlock* from : predecessors(header))
      if (auto edge = edges.find({from, header}); loop->contains(from) && edge != edges.end())
        condition = exprs.logicalOr(condition, edge->second);
  }
  lastRounds.erase(loop); // has no barriers: nothing is counted in it
  id.round = outerRound;
  rounds = outerRounds;
}

} // namespace kcheck::analyzer
