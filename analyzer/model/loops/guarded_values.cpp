// Header values that change under a guard which once false stays false.
#include "analyzer/model/loops/loop_work.h"

using namespace llvm;

namespace kcheck::analyzer {

/// if (g) { a >>= 1; b <<= 1; }: with a guard over the guarded values alone, the number of effective rounds m
/// is the iteration or, from the first round on whose guard is false, that round.
void Execution::closeGuarded(LoopWork& work) {
  struct Guarded {
    const PHINode* phi;
    Expr form;
  };
  MapVector<Expr, std::vector<Guarded>> groups;
  for (const PHINode* phi : work.phis) {
    if (work.closed.count(phi) || !work.latch.count(phi) || work.latch[phi]->op != Op::Ite) continue;
    Expr latch = work.latch[phi], header = exprs.of(work.inside[phi]);
    Expr guard = latch->operands[0], changed = latch->operands[1];
    if (latch->operands[1] == header) {
      guard = exprs.logicalNot(guard);
      changed = latch->operands[2];
    } else if (latch->operands[2] != header)
      continue;
    Expr form = additive(work, phi, header, changed);
    if (!form && !dependsOnLoop(work, changed, true, {work.inside[phi]}))
      form = orbit(work, header, work.start[phi], changed);
    if (form) groups[guard].push_back({phi, form});
  }
  for (auto& [guard, members] : groups) {
    std::string line = state.lineText(*work.loop->getHeader()->getTerminator());
    Symbol* rounds = local(*members[0].phi, "rounds", "effective rounds (" + line + ")", 32);
    rounds->lo = 0;
    Expr m = exprs.of(rounds);
    Substitution atM(exprs), before(exprs), toM(exprs), toPrevious(exprs);
    toM.set(work.k, m);
    toPrevious.set(work.k, exprs.add(m, exprs.constant(32, -1), NoSignedWrap));
    for (auto& member : members) {
      atM.set(exprs.of(work.inside[member.phi]), toM(member.form));
      before.set(exprs.of(work.inside[member.phi]), toPrevious(member.form));
    }
    std::set<const Symbol*> own;
    for (auto& member : members) own.insert(work.inside[member.phi]);
    if (dependsOnLoop(work, guard, true, own)) continue; // the guard may become true again
    rounds->exact = true;
    Symbol* after = state.symbols.get(members[0].phi, "rounds after", id,
                                      "effective rounds in all (" + line + ")", 32, SymbolKind::LoopCounter);
    after->lo = 0;
    rounds->isOutcome = after->isOutcome = true;
    state.homes[after] = {work.loop->getParentLoop(), id};
    work.guards.push_back({rounds, after, guard});
    for (auto& member : members) work.closed[member.phi] = toM(member.form);
    work.facts.push_back(exprs.binary(Op::Ule, m, work.k));
    work.facts.push_back(exprs.logicalOr(exprs.eq(m, work.k), exprs.logicalNot(atM(guard))));
    work.facts.push_back(exprs.logicalOr(exprs.eq(m, exprs.constant(32, 0)), before(guard)));
  }
}

} // namespace kcheck::analyzer
