// What is asked about a kernel: for any launch, those that are known, and where these leave something open.
#include "analyzer/kernel_analysis.h"

#include "analyzer/findings/worth_telling.h"
#include "analyzer/model/made_barriers/made_barriers.h"
#include "analyzer/model/prepare/written_out.h"
#include "analyzer/other_choices.h"
#include "analyzer/own_choice.h"
#include "analyzer/separable.h"
#include "analyzer/traffic/partings.h"

#include "llvm/IR/InstIterator.h"

#include <algorithm>
#include <array>

namespace kcheck::analyzer {
namespace {

/// Who gives each question more than the default gives the whole kernel more.
double paceOf(const Options& options) { return std::max(1.0, options.questionMilliseconds / 1000.0); }
double secondsOf(const Options& options) { return options.kernelSeconds * paceOf(options); }

/// Of a question that is worth asking where it is answered easily.
unsigned easily(unsigned milliseconds, const Options& options) {
  return std::min(options.questionMilliseconds, unsigned(milliseconds * paceOf(options)));
}

Answer answerOf(const Question& question, Property property) {
  for (const PropertyResult& result : question.answers.properties)
    if (result.property == property) return result.answer;
  return Answer::Unknown;
}

bool isProved(const Question& question, Property property) {
  return answerOf(question, property) == Answer::Proved;
}

/// All else is proved.
bool isOpenForSameValue(const Question& question, Property property) {
  return llvm::any_of(question.answers.properties, [&](const PropertyResult& result) {
    return result.property == property && result.onlySameValue;
  });
}

/// Whether all of its races may only seem so because nobody follows how a loop goes on.
bool leansOnLoops(const Question& question) {
  return llvm::all_of(question.answers.races,
                      [](const RaceResult& race) { return race.witness.leansOn(CauseKind::Loop); });
}

/// Whether one of its races hangs on nothing but what arrays and numbers hold.
bool leansOnValues(const Question& question) {
  return llvm::any_of(question.answers.races, [](const RaceResult& race) {
    return llvm::all_of(race.witness.causes, [](const Cause& cause) {
      return cause.kind == CauseKind::Content || cause.kind == CauseKind::AnyInput ||
             cause.kind == CauseKind::Launch;
    });
  });
}

std::vector<std::uint32_t> sharedLengths(const KernelModel& model) {
  std::vector<std::uint32_t> lengths;
  for (const MemoryObject& object : model.objects)
    if (object.space == MemorySpace::Shared && object.bytes && object.elementBytes)
      lengths.push_back(std::uint32_t(*object.bytes / object.elementBytes));
  return lengths;
}

} // namespace

KernelAnalysis::KernelAnalysis(const PreparedModule& prepared, const KernelCode& code, const Facts& facts,
                               Options own)
    : code(code), options(std::move(own)), facts(facts),
      plan(planLaunches(facts, *code.kernel, usedAxes(*code.function), options)) {
  if (isLibraryCode()) return;
  askAboutKnown(prepared);
  if (plan.isDefault && choosesOther(plan, questions.front().model, prepared, code, facts)) {
    questions.clear();
    askAboutKnown(prepared);
  }
  // The answer for any launch is worth having where it comes easily; the known launches are what counts.
  constexpr unsigned kEasily = 150;
  Question& any = questions.emplace_back();
  any.isAsked = options.anyLaunch;
  any.seconds = 0.4 * secondsOf(options);
  any.milliseconds = easily(kEasily, options);
  any.model = separableModel(any.exprs, prepared, code, facts, plan.any);
}

void KernelAnalysis::askAboutKnown(const PreparedModule& prepared) {
  for (const PlannedCase& planned : plan.concrete) {
    Question& question = questions.emplace_back();
    question.planned = &planned;
    question.seconds = 0.5 * secondsOf(options) / double(plan.concrete.size());
    question.milliseconds = options.questionMilliseconds;
    question.model = separableModel(question.exprs, prepared, code, facts, planned.launch);
    question.lanesMayPart = lanesMayPart(*code.function);
  }
}

Question* KernelAnalysis::tryCondition(const PreparedModule& prepared) {
  if (questions.empty() || !options.anyLaunch) return nullptr;
  if (conditions.empty() && tried.empty() && isOpenForAny())
    conditions = candidatesFor(plan, sharedLengths(questions.back().model));
  if (!tried.empty() && isSettled(tried.back())) return nullptr;
  if (tried.size() == conditions.size()) return nullptr;
  Question& question = tried.emplace_back();
  question.condition = &conditions[tried.size() - 1];
  constexpr double kShare = 0.05;
  constexpr unsigned kEasily = 60;
  question.seconds = kShare * secondsOf(options);
  question.milliseconds = easily(kEasily, options);
  question.model = separableModel(question.exprs, prepared, code, facts, question.condition->launch);
  return &question;
}

std::vector<Question*> KernelAnalysis::tryOthers(const PreparedModule& prepared) {
  const bool finds = llvm::any_of(questions, [&](Question& q) {
    return q.planned && !std::ranges::all_of(settledBy(q).answers.races, &RaceResult::sameValue);
  });
  if (questions.empty() || !options.anyLaunch || finds) return {};
  if (!isProvedForShapes(Property::RaceFree)) {
    others = unevenLaunches(plan, facts.hasMain, [&](const LaunchCase& launch) {
      ExprContext exprs;
      const KernelModel model = separableModel(exprs, prepared, code, facts, launch);
      return !model.breaksAssumption && countMisfits(model) <= countMisfits(questions.front().model);
    });
    if (!others.empty())
      if (auto vast = vastLaunch(plan, others.front(), questions.back().model))
        others.push_back(std::move(*vast));
    if (auto usual = usualLaunch(plan)) others.push_back(std::move(*usual));
  }
  if (auto larger = largerLaunch(plan, sharedOut(*code.function))) others.push_back(std::move(*larger));
  std::vector<Question*> result;
  for (LargerLaunch& other : others) {
    other.planned.launch.launch = &other.planned.shown;
    constexpr double kShare = 0.1;
    constexpr unsigned kEasily = 150;
    Question& question = otherQuestions.emplace_back();
    question.planned = &other.planned;
    question.seconds = kShare * secondsOf(options);
    question.milliseconds = easily(kEasily, options);
    question.model = separableModel(question.exprs, prepared, code, facts, other.planned.launch);
    if (question.model.breaksAssumption) question.isAsked = false; // nobody starts it so
    result.push_back(&question);
  }
  return result;
}

std::vector<Question*> KernelAnalysis::tryOtherChoices(const PreparedModule& prepared) {
  if (questions.empty() || !plan.isDefault || facts.hasMain ||
      !goesWrong(settledBy(questions.front()).answers))
    return {};
  const KernelModel& chosen = questions.front().model;
  const std::size_t done = countDone(chosen);
  otherChosen = otherChoices(plan, chosen, [&](const LaunchCase& launch) {
    ExprContext exprs;
    const KernelModel model = separableModel(exprs, prepared, code, facts, launch);
    return !model.breaksAssumption && countMisfits(model) == 0 && countDone(model) >= done &&
           asksAsMuch(model, chosen, questions.back().model);
  });
  std::vector<Question*> result;
  for (PlannedCase& other : otherChosen) {
    other.launch.launch = &other.shown;
    constexpr double kShare = 0.05;
    constexpr unsigned kEasily = 150;
    Question& question = chosenQuestions.emplace_back();
    question.planned = &other;
    question.seconds = kShare * secondsOf(options);
    question.milliseconds = easily(kEasily, options);
    question.model = separableModel(question.exprs, prepared, code, facts, other.launch);
    result.push_back(&question);
  }
  return result;
}

std::vector<Question*> KernelAnalysis::tryMadeBarriers(const PreparedModule& prepared) {
  std::vector<Question*> result;
  for (const Question& open : questions) {
    if (!open.isAsked || answerOf(open, Property::RaceFree) != Answer::Unknown) continue;
    const LaunchCase& launch = open.planned ? open.planned->launch : plan.any;
    auto copy = withMadeBarriers(prepared, code, facts, launch);
    if (!copy) continue;
    Question& question = copies.emplace_back();
    question.code = &copiedCode.emplace_back(*copy);
    question.hasMadeBarriers = true;
    question.planned = open.planned;
    question.seconds = open.seconds;
    question.milliseconds = open.planned ? options.questionMilliseconds : open.milliseconds;
    question.model = separableModel(question.exprs, prepared, *question.code, facts, launch);
    result.push_back(&question);
  }
  return result;
}

std::vector<Question*> KernelAnalysis::tryWrittenOut(const PreparedModule& prepared) {
  constexpr unsigned kEasily = 300;
  std::vector<Question*> result;
  for (Question& open : questions) {
    if (!open.planned || answerOf(settledBy(open), Property::RaceFree) != Answer::Unknown) continue;
    auto copy = writtenOut(code, open.planned->launch);
    if (!copy) continue;
    Question& question = copies.emplace_back();
    question.code = &copiedCode.emplace_back(*copy);
    question.planned = open.planned;
    question.seconds = 0.5 * open.seconds;
    question.milliseconds = easily(kEasily, options);
    question.model = separableModel(question.exprs, prepared, *copy, facts, open.planned->launch);
    result.push_back(&question);
  }
  return result;
}

Question& KernelAnalysis::settledBy(Question& question) {
  for (Question& copy : copies) {
    if (copy.planned != question.planned) continue;
    // What holds behind a barrier of the kernel's own making holds where all blocks come to it.
    if (copy.hasMadeBarriers && !isProved(copy, Property::BarriersUniform)) continue;
    const bool saysMore = leansOnLoops(question) && leansOnValues(copy) &&
                          !racesToTell(copy.answers, {facts, copy.model, {}}).empty();
    if (saysMore || answerOf(copy, Property::RaceFree) != Answer::Unknown) return copy;
  }
  return question;
}

bool KernelAnalysis::isProvedForShapes(Property property) const {
  const Question& any = questions.back();
  const bool holds = isProved(any, property) || isOpenForSameValue(any, property);
  return holds || llvm::any_of(tried, [&](const Question& question) {
           return !question.condition->launch.block[1] && isProved(question, property);
         });
}

bool KernelAnalysis::isOpenForAny() const {
  return llvm::any_of(std::array{Property::RaceFree, Property::BarriersUniform}, [&](Property property) {
    if (isProved(questions.back(), property)) return false;
    return llvm::all_of(questions, [&](const Question& q) { return !q.planned || isProved(q, property); });
  });
}

bool KernelAnalysis::isSettled(const Question& question) const {
  return llvm::all_of(std::array{Property::RaceFree, Property::BarriersUniform}, [&](Property property) {
    return isProved(question, property) || isProved(questions.back(), property);
  });
}

bool KernelAnalysis::isLibraryCode() const {
  if (!code.kernel->inSystemHeader) return false;
  return llvm::none_of(llvm::instructions(*code.function), [&](const llvm::Instruction& instruction) {
    const SiteId site = siteOf(instruction);
    return site < facts.sites.size() && !facts.sites[site].inSystemHeader;
  });
}

} // namespace kcheck::analyzer
