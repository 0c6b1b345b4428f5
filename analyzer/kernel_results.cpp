// What the answers about a kernel amount to: one result per property, and the findings.
#include "analyzer/kernel_analysis.h"

#include "analyzer/brief.h"
#include "analyzer/findings/findings.h"
#include "analyzer/initialization.h"
#include "analyzer/open_races.h"
#include "analyzer/other_choices.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

#include <algorithm>

namespace kcheck::analyzer {

void KernelAnalysis::finish(Analysis& analysis, Coverage& coverage) {
  if (isBrief(*code.function)) analysis.briefKernels.insert(code.kernel->symbol);
  if (questions.empty()) return leaveToTheRun(analysis);
  KernelResult result;
  result.symbol = code.kernel->symbol;
  result.name = code.kernel->name;
  result.where = code.kernel->where;
  std::vector<CaseAnswers> cases;
  CaseAnswers any;
  for (Question& question : questions) {
    CaseAnswers answers = answersOf(settledBy(question), analysis);
    if (!question.planned) {
      any = std::move(answers);
      continue;
    }
    cases.push_back(std::move(answers));
    result.launches.push_back(question.planned->shown);
  }
  std::vector<CaseAnswers> conditional;
  for (Question& question : tried) conditional.push_back(answersOf(question, analysis));
  result.properties = mergeProperties(any, cases, conditional);
  if (!plan.leftOut.empty()) openLeftOut(result.properties);
  if (plan.isDefault) nameExactFloats(result.properties);
  if (plan.isDefault && facts.hasMain) doubtInvented(result.properties, analysis);
  doubtChoice(result.properties, analysis);
  tellOthers(result.properties, analysis);
  tellOnlySameValue(result.properties);
  collectSafeSites(any, cases);
  analysis.kernels.push_back(std::move(result));
  finishTraffic(analysis, coverage);
}

void KernelAnalysis::leaveToTheRun(Analysis& analysis) const {
  KernelResult result{code.kernel->symbol, code.kernel->name, code.kernel->where, {}, {}};
  for (Property property :
       {Property::RaceFree, Property::BarriersUniform, Property::InBounds, Property::Initialized})
    result.properties.push_back(
        {property, Answer::Unknown, "kernels of libraries are checked in the run alone", "", {}, false});
  analysis.kernels.push_back(std::move(result));
}

void KernelAnalysis::openLeftOut(std::vector<PropertyResult>& properties) const {
  for (PropertyResult& property : properties) {
    if (property.answer != Answer::Proved) continue;
    if (plan.anyCoversLeftOut && property.holdsFor == plan.anyText) continue;
    property.answer = Answer::Unknown;
    property.reason = plan.leftOut;
    property.holdsFor.clear();
    property.assumptions.clear();
  }
}

void KernelAnalysis::doubtInvented(std::vector<PropertyResult>& properties, Analysis& analysis) const {
  doubtWhere(plan.concrete.front().holdsFor, "", properties, analysis);
}

void KernelAnalysis::doubtChoice(std::vector<PropertyResult>& properties, Analysis& analysis) const {
  const auto well = llvm::find_if(chosenQuestions, [](const Question& q) { return goesWell(q.answers); });
  if (well == chosenQuestions.end()) return;
  const std::string why = fmt::format(", and nothing goes wrong for {}", well->planned->holdsFor);
  doubtWhere(plan.concrete.front().holdsFor, why, properties, analysis);
}

void KernelAnalysis::doubtWhere(const std::string& lean, const std::string& why,
                                std::vector<PropertyResult>& properties, Analysis& analysis) const {
  for (Finding& finding : analysis.findings) {
    if (finding.holdsFor != lean || finding.kernel != code.kernel->name) continue;
    if (finding.verdict != Verdict::Proved || (finding.severity == Severity::Note && !finding.sameValue))
      continue;
    finding.verdict = Verdict::Possible;
    finding.severity = std::min(finding.severity, Severity::Warning);
    finding.reason = fmt::format("the launch {}{}", lean, why);
    finding.leansOnHost = true;
  }
  for (PropertyResult& property : properties) {
    if (property.answer != Answer::Refuted) continue;
    property.answer = Answer::Unknown;
    property.reason = fmt::format("it fails for {}{}", lean, why);
    property.holdsFor.clear();
  }
}

/// The floating-point arithmetic that places of a model follow, other than where nothing is rounded.
static std::set<std::string> floatsOf(const KernelModel& model) {
  std::set<std::string> result;
  for (const auto* phases : {&model.gridPhases, &model.blockPhases})
    for (const Phase& phase : *phases)
      for (const ModelAccess& access : phase.accesses)
        for (const Cause& cause : access.offset ? causesOf(access.offset) : std::vector<Cause>())
          if (cause.text.starts_with("floating-point arithmetic")) result.insert(cause.text);
  return result;
}

void KernelAnalysis::nameExactFloats(std::vector<PropertyResult>& properties) const {
  const PlannedCase& chosen = plan.concrete.front();
  for (PropertyResult& property : properties) {
    const bool isOfChoice = property.answer == Answer::Proved && property.holdsFor == chosen.holdsFor;
    if (property.property != Property::RaceFree || !isOfChoice) continue;
    const std::set<std::string> known = floatsOf(questions.front().model);
    for (const std::string& floats : floatsOf(questions.back().model))
      if (!known.count(floats))
        property.assumptions.push_back("no launch is so large that its indices are rounded in " + floats);
  }
}

void KernelAnalysis::tellOthers(std::vector<PropertyResult>& properties, Analysis& analysis) {
  std::set<SiteId> told, toldSame; // of a wide block and of a high one
  for (const Finding& finding : analysis.findings)
    if (finding.kernel == code.kernel->name && finding.sameValue && !finding.accesses.empty())
      toldSame.insert(finding.accesses.front().site);
  for (std::size_t i = 0; i < others.size(); ++i) {
    Question& question = otherQuestions[i];
    keepTellingRaces(question.answers, others[i]);
    if (plan.isDefault) openWhereChosen(properties, question.answers, others[i]);
    for (Finding& finding :
         findingsOf(question.answers, {facts, question.model, others[i].planned.holdsFor})) {
      const SiteId site = finding.accesses.empty() ? kNoSite : finding.accesses.front().site;
      if (site != kNoSite && finding.sameValue && (told.count(site) || !toldSame.insert(site).second))
        continue;
      if (site != kNoSite && !finding.sameValue) {
        if (!told.insert(site).second) continue;
        std::erase_if(analysis.findings, [&](const Finding& known) { // which says less of the place
          return known.kernel == finding.kernel && known.sameValue && !known.accesses.empty() &&
                 known.accesses.front().site == site;
        });
      }
      wordAsLarger(finding, others[i]);
      analysis.findings.push_back(std::move(finding));
    }
  }
}

void KernelAnalysis::openWhereChosen(std::vector<PropertyResult>& properties, const KernelAnswers& answers,
                                     const LargerLaunch& other) const {
  if (answers.races.empty()) return;
  const bool onlySame = std::ranges::all_of(answers.races, &RaceResult::sameValue);
  for (PropertyResult& property : properties) {
    const bool isForAny = property.holdsFor == plan.anyText;
    if (property.property != Property::RaceFree || isForAny) continue;
    if (property.onlySameValue && !onlySame) {
      property.reason += fmt::format("; no launch is known, and the rest is open for {}", other.lean);
      property.onlySameValue = false;
    }
    if (property.answer != Answer::Proved) continue;
    property.answer = Answer::Unknown;
    property.reason = fmt::format("no launch is known, and it is open for {}", other.lean);
    property.holdsFor.clear();
    property.assumptions.clear();
  }
}

void KernelAnalysis::tellOnlySameValue(std::vector<PropertyResult>& properties) const {
  for (PropertyResult& property : properties) {
    if (property.answer != Answer::Unknown || !property.onlySameValue) continue;
    const bool isOfChoice = plan.isDefault && property.holdsFor == plan.concrete.front().holdsFor;
    if (!isOfChoice) property.reason += "; nothing else races for " + property.holdsFor;
    property.holdsFor.clear();
  }
}

void KernelAnalysis::finishTraffic(Analysis& analysis, Coverage& coverage) {
  std::vector<CountedLaunch> launches;
  for (Question& question : questions) {
    if (!question.planned) continue;
    // What the program's own launch costs, one of kcheck's choice does not tell.
    if (plan.isDefault && facts.hasMain && question.traffic)
      for (AccessTraffic& one : question.traffic->accesses) one.metric.isExact = false;
    launches.push_back({question.planned->launch.launch, &question.model, std::move(question.traffic)});
    coverage.add(launches.back());
  }
  Question& any = questions.back();
  addTraffic(launches, any.model, any.exprs, facts, analysis);
}

/// Nobody makes a launch of kcheck's choice that breaks what the kernel says of its launches.
void KernelAnalysis::dropWhereBroken(Question& question) const {
  if (!question.planned || !plan.isDefault || !question.model.breaksAssumption) return;
  KernelAnswers& answers = question.answers;
  answers.races.clear();
  answers.divergences.clear();
  answers.laneCalls.clear();
  answers.bounds.clear();
  answers.askew.clear();
  for (PropertyResult& property : answers.properties) {
    if (property.answer != Answer::Refuted) continue;
    property.answer = Answer::Unknown;
    property.reason = "an assumption of the kernel does not hold for " + question.planned->holdsFor;
  }
}

/// A kernel by itself is often a part of one.
static void softenUnwritten(std::vector<Finding>& findings) {
  for (Finding& finding : findings)
    if (finding.rule == "uninitialized-read") finding.severity = Severity::Warning;
}

/// Of a launch of kcheck's choice only what is never written in any other either counts.
PropertyResult KernelAnalysis::initializedIn(Question& question) const {
  std::vector<UnwrittenResult>& unwritten = question.answers.unwritten;
  PropertyResult result = checkInitialization(question.model, question.code ? *question.code : code,
                                              question.answers.initialized);
  if (!question.planned || !plan.isDefault) return result;
  const KernelModel& any = questions.back().model;
  std::erase_if(unwritten, [&](const UnwrittenResult& read) {
    const MemoryObject& object = question.model.objects[read.access->object];
    return !read.isNeverWritten || !any.gaps.empty() || !any.sharedDoubt.empty() ||
           llvm::any_of(any.sharedWrites, [&](const SharedWrite& write) {
             return !write.isChange && any.objects[write.access.object].name == object.name;
           });
  });
  const bool isLost = result.answer == Answer::Refuted && unwritten.empty();
  if (isLost || (result.answer == Answer::Proved && question.answers.initialized)) {
    result.answer = Answer::Unknown;
    result.reason = "no launch is known: whether shared memory is written before it is read is looked for in "
                    "the run alone";
    result.runAlone = true;
    result.assumptions.clear();
  }
  return result;
}

CaseAnswers KernelAnalysis::answersOf(Question& question, Analysis& analysis) {
  dropWhereBroken(question);
  const KernelModel& model = question.model;
  CaseAnswers result;
  result.holdsFor = question.planned     ? question.planned->holdsFor
                    : question.condition ? question.condition->holdsFor
                                         : plan.anyText;
  result.isCovered = !question.planned || (covers(plan.any, question.planned->launch) &&
                                           !model.breaksAssumption && !model.hasPartOfWarp);
  if (question.planned) result.narrowed = question.planned->narrowed;
  result.showsRace = question.planned && llvm::any_of(question.answers.races, [](const RaceResult& race) {
                       return race.witness.exact();
                     });
  result.properties = question.answers.properties;
  result.properties.push_back(initializedIn(question));
  result.assumptions = model.assumptions;
  result.safeSites = question.answers.safeSites;
  for (const Phase& phase : model.gridPhases)
    for (const ModelAccess& access : phase.accesses) sites.insert(access.site);
  FindingContext context{facts, model, result.holdsFor};
  adjustProperties(result.properties, question.answers, context);
  if (question.planned) {
    auto found = findingsOf(question.answers, context);
    if (!question.planned->launch.isOfProgram()) softenUnwritten(found);
    analysis.findings.insert(analysis.findings.end(), found.begin(), found.end());
    auto open = openRacesOf(question.answers, context);
    if (!open.empty()) noteWanted(model, analysis.wanted[code.kernel->symbol]);
    llvm::append_range(analysis.openRaces, std::move(open));
  }
  return result;
}

void KernelAnalysis::collectSafeSites(const CaseAnswers& any, const std::vector<CaseAnswers>& cases) {
  const bool showsShapes = llvm::all_of(cases, [](const CaseAnswers& one) { return one.narrowed.empty(); }) &&
                           !(plan.isDefault && plan.isNarrowed);
  if (!showsShapes) return;
  for (SiteId site : sites) {
    bool always = any.assumptions.empty() && any.safeSites.count(site) &&
                  llvm::all_of(cases, [](const CaseAnswers& one) { return one.isCovered; });
    bool each = !plan.isDefault && !cases.empty();
    for (const CaseAnswers& one : cases) each = each && one.assumptions.empty() && one.safeSites.count(site);
    if (always || each) safe.insert(site);
  }
}

} // namespace kcheck::analyzer
