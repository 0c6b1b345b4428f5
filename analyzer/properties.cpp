#include "analyzer/properties.h"

#include "analyzer/findings/worth_telling.h"

#include <algorithm>
#include <set>

namespace kcheck::analyzer {
namespace {

PropertyResult* find(std::vector<PropertyResult>& properties, Property property) {
  for (PropertyResult& result : properties)
    if (result.property == property) return &result;
  return nullptr;
}

const PropertyResult* find(const CaseAnswers& answers, Property property) {
  return find(const_cast<std::vector<PropertyResult>&>(answers.properties), property);
}

void addAll(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& text : from)
    if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
}

std::string holdsForAll(const std::vector<CaseAnswers>& cases) {
  std::string text;
  std::set<std::string> told; // launches of the same shape with other arguments
  for (const CaseAnswers& one : cases)
    if (told.insert(one.holdsFor).second) text += (text.empty() ? "" : ", ") + one.holdsFor;
  return text;
}

PropertyResult ofCases(const std::vector<CaseAnswers>& cases, Property property) {
  PropertyResult merged;
  merged.property = property;
  merged.answer = cases.empty() ? Answer::Unknown : Answer::Proved;
  if (cases.empty()) merged.reason = "no launch was looked at";
  for (const CaseAnswers& one : cases) {
    const PropertyResult* result = find(one, property);
    if (!result) continue;
    addAll(merged.assumptions, result->assumptions);
    if (merged.answer == Answer::Refuted) continue;
    if (result->answer == Answer::Refuted) {
      merged.answer = Answer::Refuted;
      merged.onlySameValue = false;
      merged.reason.clear();
      merged.holdsFor = one.holdsFor;
    } else if (result->answer == Answer::Unknown &&
               (merged.answer == Answer::Proved || (merged.onlySameValue && !result->onlySameValue))) {
      merged.answer = Answer::Unknown;
      merged.onlySameValue = result->onlySameValue;
      merged.reason = result->reason;
      merged.runAlone = result->runAlone;
      merged.holdsFor = one.holdsFor;
    }
  }
  if (merged.answer == Answer::Proved || merged.onlySameValue) merged.holdsFor = holdsForAll(cases);
  if (merged.answer != Answer::Proved) merged.assumptions.clear();
  return merged;
}

} // namespace

namespace {
/// Bounds are refuted by addresses that the kernel computes. An index read from an array may be a wrong one,
/// which nobody knows from the kernel alone.
void adjustBounds(PropertyResult& bounds, const KernelAnswers& answers) {
  if (bounds.answer != Answer::Refuted) return;
  for (const BoundsResult& result : answers.bounds)
    if (result.witness.exact() && !followsContent(*result.access)) return;
  bounds.answer = Answer::Unknown;
  unsigned line = answers.bounds.empty() ? 0 : answers.bounds.front().access->where.line;
  bounds.reason =
      "line " + std::to_string(line) + ": the index comes from memory, whose content is not known";
}

/// Races that flags, locks or partial barriers may order refute nothing.
void adjustRaces(PropertyResult& races, const KernelAnswers& answers, const FindingContext& context) {
  if (races.answer != Answer::Refuted) return;
  const RaceResult* open = nullptr;
  for (const RaceResult& race : answers.races) {
    if (!race.witness.exact() || race.sameValue) continue;
    if (!mayBeOrdered(race, context)) return;
    open = &race;
  }
  if (!open) return;
  races.answer = Answer::Unknown;
  races.reason = "line " + std::to_string(open->first->where.line) + " against line " +
                 std::to_string(open->second->where.line) +
                 ": flags may order these threads, which is not followed";
  races.assumptions.clear();
}
} // namespace

void adjustProperties(std::vector<PropertyResult>& properties, const KernelAnswers& answers,
                      const FindingContext& context) {
  if (PropertyResult* bounds = find(properties, Property::InBounds)) adjustBounds(*bounds, answers);
  PropertyResult* races = find(properties, Property::RaceFree);
  if (races) adjustRaces(*races, answers, context);
  const PropertyResult* barriers = find(properties, Property::BarriersUniform);
  if (!races || !barriers || races->answer == Answer::Unknown || answers.missedBarriers.empty()) return;
  bool acrossBlocks = std::any_of(answers.races.begin(), answers.races.end(), [](const RaceResult& race) {
    return race.scope == RaceScope::InterBlock && race.witness.exact() && !race.sameValue;
  });
  if (races->answer == Answer::Refuted && (acrossBlocks || barriers->answer == Answer::Unknown)) return;
  races->answer = Answer::Unknown;
  races->onlySameValue = false;
  races->reason = "threads do not surely meet at every barrier: " + answers.missedBarriers;
  races->assumptions.clear();
}

std::vector<PropertyResult> mergeProperties(const CaseAnswers& any, const std::vector<CaseAnswers>& cases,
                                            const std::vector<CaseAnswers>& conditional) {
  std::vector<PropertyResult> merged;
  const bool areCovered =
      std::all_of(cases.begin(), cases.end(), [](const CaseAnswers& one) { return one.isCovered; });
  for (Property property :
       {Property::RaceFree, Property::BarriersUniform, Property::InBounds, Property::Initialized}) {
    const PropertyResult* general = find(any, property);
    PropertyResult result = ofCases(cases, property);
    const bool isContradicted =
        result.answer == Answer::Refuted ||
        (property == Property::RaceFree && std::ranges::any_of(cases, &CaseAnswers::showsRace));
    if (areCovered && general && general->answer == Answer::Proved && !isContradicted) {
      result = *general;
      result.holdsFor = any.holdsFor;
    } else if (areCovered && result.answer == Answer::Proved) {
      for (const CaseAnswers& condition : conditional) {
        const PropertyResult* answer = find(condition, property);
        if (!answer || answer->answer != Answer::Proved) continue;
        result = *answer;
        result.holdsFor = condition.holdsFor;
        break;
      }
    }
    if (areCovered && general && general->onlySameValue && result.onlySameValue)
      result.holdsFor = any.holdsFor;
    if (property == Property::RaceFree && result.answer == Answer::Proved)
      for (const CaseAnswers& one : cases) addAll(result.assumptions, one.narrowed);
    merged.push_back(std::move(result));
  }
  return merged;
}

} // namespace kcheck::analyzer
