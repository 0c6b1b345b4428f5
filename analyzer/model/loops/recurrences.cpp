// Closed forms: header values of a loop as functions of its iteration counter. Sums (plain_sums.cpp,
// wrapped_sums.cpp, narrow_sums.cpp), products and what is halved of them (products.cpp,
// halved_products.cpp), chains that reach a fixed value or come round (chains.cpp), values of the iteration
// before, and all of these under a guard that once false stays false (guarded_values.cpp).
#include "analyzer/model/loops/loop_work.h"

using namespace llvm;

namespace kcheck::analyzer {

bool Execution::dependsOnLoop(const LoopWork& work, Expr e, bool counterToo,
                              const std::set<const Symbol*>& except) const {
  return anyNode(e, [&](Expr n) {
    if (n->op != Op::Symbol || (!counterToo && n->symbol == work.counter) || except.count(n->symbol))
      return false;
    auto home = state.homes.find(n->symbol);
    return home != state.homes.end() && home->second.second.sameLayer(id) && home->second.first &&
           work.loop->contains(home->second.first);
  });
}

void Execution::closeForms(LoopWork& work) {
  for (const PHINode* phi : work.phis) {
    if (work.closed.count(phi) || !work.latch.count(phi) || phi->getType()->isFloatingPointTy()) continue;
    Expr header = exprs.of(work.inside[phi]), startValue = work.start[phi], latch = work.latch[phi];
    if (latch == header) {
      work.closed[phi] = startValue;
      continue;
    }
    Expr narrow = narrowSum(work, phi, header, latch);
    if (Expr form = narrow ? narrow : additive(work, phi, header, latch)) {
      work.closed[phi] = form;
      continue;
    }
    bool usesItself = anyNode(latch, [&](Expr n) { return n == header; });
    if (!usesItself && !dependsOnLoop(work, latch, false)) {
      // What the iteration before left here.
      Substitution previous(exprs);
      previous.set(work.k, exprs.add(work.k, exprs.constant(32, -1), NoSignedWrap));
      work.closed[phi] = exprs.ite(exprs.eq(work.k, exprs.constant(32, 0)), startValue, previous(latch));
    } else if (usesItself && !dependsOnLoop(work, latch, true, {work.inside[phi]})) {
      Expr form = wrappedSum(work, phi, header, latch);
      if (!form) form = product(work, phi, header, latch);
      if (!form) form = halvedProduct(work, phi, header, latch);
      if (!form) form = orbit(work, header, startValue, latch);
      if (form) work.closed[phi] = form;
    } else if (usesItself) {
      Expr form = growingSum(work, phi, header, latch);
      if (!form) form = comingAgain(work, phi, header, latch);
      if (form) work.closed[phi] = form;
    }
  }
  closeTogether(work);
  closeGuarded(work);
}

} // namespace kcheck::analyzer
