// Bounds: does every access stay in its object?
#include "analyzer/decide/checks.h"
#include "analyzer/decide/usual_sizes.h"
#include "analyzer/decide/variants.h"

#include <map>
#include <set>
#include <tuple>

namespace kcheck::analyzer {

namespace {

class BoundsCheck {
public:
  explicit BoundsCheck(const Check& check)
      : c(check), answer(Property::InBounds), variants(check.decider, check.model) {}

  PropertyResult run() {
    for (const ModelGap& gap : c.model.gaps)
      if (gap.affectsBounds) answer.doubt(lineOf(gap.where) + ": " + gap.what);
    for (const std::string& assumption : c.model.assumptions) answer.assume(assumption);
    // Every access is in some phase of the block; those of the grid are the same ones.
    const std::vector<Phase>& phases = c.model.blockPhases.empty() ? c.model.gridPhases : c.model.blockPhases;
    for (const Phase& phase : phases)
      for (const ModelAccess& access : phase.accesses) {
        if (!c.limits.proofOnly) askWhetherAligned(access);
        ask(access);
      }
    return answer.finish();
  }

private:
  void askWhetherAligned(const ModelAccess& access) {
    const Alignment& alignment = c.decider.alignmentOf(access);
    if (alignment.kind != Alignment::Kind::Broken || !askew.insert({access.site, access.where.line}).second)
      return;
    c.unsafe.insert(access.site);
    c.answers.askew.push_back(
        {&access, c.decider.witness(alignment.askew, access, nullptr, Relation::SameBlock)});
  }

  void ask(const ModelAccess& access) {
    const MemoryObject* object = nullptr;
    for (const MemoryObject& o : c.model.objects)
      if (o.id == access.object) object = &o;
    ExprContext& context = c.decider.view().context;
    Expr bytes = nullptr;
    if (object && !object->isUnknown) {
      if (object->freed.known())
        bytes = context.constant(64, 0); // nothing is left of it
      else if (object->bytes)
        bytes = context.constant(64, std::int64_t(*object->bytes));
      else
        bytes = object->symbolicBytes;
    }
    if (!bytes) {
      c.unsafe.insert(access.site);
      if (!object || object->isUnknown)
        answer.doubt(lineOf(access.where) + ": an access through a pointer that could not be followed");
      else
        answer.doubt("the size of `" + object->name + "` is not known");
      return;
    }
    if (c.limits.proofOnly && answer.isOpen()) {
      c.unsafe.insert(access.site);
      return;
    }
    if (!asked.insert({access.offset, access.size, access.condition, bytes, access.site}).second) return;
    Verdict verdict = c.decider.leaves(access, bytes);
    if (verdict.outcome == Verdict::Outcome::Happens) {
      c.unsafe.insert(access.site);
      preferNotNegative(c, answer, {&access}, verdict, [&](Expr wanted) {
        return c.decider.leaves(*variants.where(access, wanted), bytes);
      });
    }
    if (verdict.outcome == Verdict::Outcome::Never) {
      if (verdict.assumesNoWrap)
        for (const std::string& text : c.decider.wrapAssumptions(access)) answer.assume(text);
      for (const std::string& text : c.decider.signedAssumptions(access)) answer.assume(text);
      return;
    }
    c.unsafe.insert(access.site);
    if (verdict.outcome == Verdict::Outcome::Unknown) {
      answer.doubt(lineOf(access.where) + ": " + verdict.reason);
      return;
    }
    if (access.site != kNoSite && ++found[access.site] > c.limits.findingsPerSitePair) return;
    Witness witness = c.decider.witness(verdict, access, nullptr, Relation::SameBlock);
    if (witness.exact())
      answer.refute();
    else
      answer.doubt(lineOf(access.where) + ": possibly out of bounds, leaning on " +
                   witness.causes.front().text);
    c.answers.bounds.push_back({&access, access.object, std::move(witness)});
  }

  Check c;
  PropertyAnswer answer;
  AccessVariants variants;
  std::set<std::tuple<Expr, Expr, Expr, Expr, SiteId>> asked;
  std::map<SiteId, unsigned> found;
  std::set<std::pair<SiteId, unsigned>> askew; ///< told, by site and line
};

} // namespace

PropertyResult checkBounds(Check check) { return BoundsCheck(check).run(); }

} // namespace kcheck::analyzer
