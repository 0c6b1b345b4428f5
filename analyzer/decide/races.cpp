// Everything that there is to ask of a kernel, in order, and what the answers amount to.
#include "analyzer/decide/races.h"

#include "analyzer/decide/checks.h"

#include <algorithm>

namespace kcheck::analyzer {

std::string lineOf(const Location& where) {
  if (where.known()) return "line " + std::to_string(where.line);
  return where.file.empty() ? "an unknown line" : where.file;
}

static void addOnce(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

void PropertyAnswer::doubt(const std::string& reason) { addOnce(doubts, reason); }

void PropertyAnswer::doubtSameValue(const std::string& reason) { addOnce(sameValues, reason); }

void PropertyAnswer::assume(const std::string& assumption) { addOnce(result.assumptions, assumption); }

PropertyResult PropertyAnswer::finish() {
  result.onlySameValue = !refuted && doubts.empty() && !sameValues.empty();
  for (const std::string& reason : sameValues) doubt(reason);
  result.answer = refuted ? Answer::Refuted : doubts.empty() ? Answer::Proved : Answer::Unknown;
  if (result.answer == Answer::Unknown) {
    for (const std::string& doubt : doubts) result.reason += (result.reason.empty() ? "" : "; ") + doubt;
  }
  if (result.answer != Answer::Proved) result.assumptions.clear();
  return result;
}

/// Where there is a reason.
static void leaveOpen(PropertyResult& result, const std::string& reason) {
  if (reason.empty()) return;
  result.answer = Answer::Unknown;
  result.reason = reason;
  result.assumptions.clear();
}

KernelAnswers decide(const KernelModel& model, ExprContext& context, const Limits& limits) {
  KernelAnswers answers;
  Decider decider(model, context, limits);
  std::set<SiteId> unsafe;
  Check check{decider, model, limits, answers, unsafe};
  // Barriers first: what a divergent barrier orders is no question for races.
  PropertyResult barriers = checkBarriers(check);
  answers.properties.push_back(checkRaces(check));
  // Memory that threads race for only to write the same there is what it would be without that.
  const PropertyResult& races = answers.properties.back();
  if (barriers.answer == Answer::Proved && races.answer != Answer::Proved && !races.onlySameValue)
    leaveOpen(barriers, barriersRestOn(model));
  const bool meet = barriers.answer == Answer::Proved;
  answers.properties.push_back(std::move(barriers));
  answers.properties.push_back(checkBounds(check));
  if (meet && !limits.proofOnly && !model.sharedReads.empty()) answers.initialized = checkFirstReads(check);
  bool hasGap = std::any_of(model.gaps.begin(), model.gaps.end(),
                            [](const ModelGap& g) { return g.affectsRaces || g.affectsBounds; });
  if (!hasGap) {
    for (const auto* phases : {&model.blockPhases, &model.gridPhases, &model.warpPhases, &model.lanePhases})
      for (const Phase& phase : *phases)
        for (const ModelAccess& access : phase.accesses)
          if (access.site != kNoSite && !unsafe.count(access.site)) answers.safeSites.insert(access.site);
  }
  answers.counters = decider.counters;
  return answers;
}

} // namespace kcheck::analyzer
