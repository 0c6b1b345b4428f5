#include "analyzer/separable.h"

#include "analyzer/decide/question.h"

#include <algorithm>

namespace kcheck::analyzer {

/// Whether all elements that subscripts name are their arrays' own, with nothing assumed.
static bool keepToArrays(const KernelModel& model, ExprContext& exprs) {
  if (model.subscripts.empty()) return true;
  Limits limits;
  limits.kernelSeconds = 1;
  limits.questionMilliseconds = 100;
  limits.proofOnly = true;
  Decider decider(model, exprs, limits);
  return std::ranges::all_of(model.subscripts, [&](const SubscriptCheck& check) {
    if (!check.isFollowed) return false;
    const Verdict verdict = decider.leaves(check.access, exprs.constant(64, check.bytes));
    return verdict.outcome == Verdict::Outcome::Never && !verdict.assumesNoWrap &&
           decider.signedAssumptions(check.access).empty();
  });
}

KernelModel separableModel(ExprContext& exprs, const PreparedModule& prepared, const KernelCode& code,
                           const kcheck::Facts& facts, const LaunchCase& launch) {
  KernelModel model = buildModel(exprs, prepared, code, facts, launch);
  if (keepToArrays(model, exprs)) return model;
  LaunchCase whole = launch;
  whole.keepsWhole = true;
  return buildModel(exprs, prepared, code, facts, whole);
}

} // namespace kcheck::analyzer
