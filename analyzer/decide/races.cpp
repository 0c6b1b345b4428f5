// Placeholder while the deciders are built: answers Unknown to everything.
#include "analyzer/decide/races.h"

namespace kcheck::analyzer {

KernelAnswers decide(const KernelModel& model, ExprContext&, const Limits&) {
  (void)model;
  KernelAnswers answers;
  for (Property p : {Property::RaceFree, Property::BarriersUniform, Property::InBounds})
    answers.properties.push_back({p, Answer::Unknown, "no decider asked", "", {}});
  return answers;
}

} // namespace kcheck::analyzer
