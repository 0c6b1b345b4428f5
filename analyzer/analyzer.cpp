// The static pass over a module: per kernel the model and the answers for any launch, then for the launches
// that are known, and from these one answer per property and the findings.
#include "analyzer/analyzer.h"

#include "analyzer/brief.h"
#include "analyzer/findings.h"
#include "analyzer/initialization.h"
#include "analyzer/larger_launches.h"
#include "analyzer/launches.h"
#include "analyzer/model/written_out.h"
#include "analyzer/open_races.h"
#include "analyzer/properties.h"
#include "analyzer/samples.h"
#include "analyzer/smt/solver.h"
#include "analyzer/traffic/advice.h"
#include "analyzer/traffic/partings.h"
#include "analyzer/worth_telling.h"
#include "report/kernel_name.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <thread>

namespace kcheck::analyzer {
namespace {

/// Symbols of the kernels that the options ask for.
std::vector<std::string> wantedKernels(const Facts& facts, const Options& options) {
  std::vector<std::string> symbols;
  for (const Kernel& kernel : facts.kernels)
    for (const std::string& name : options.kernels)
      if (namesKernel(name, kernel.symbol, kernel.name)) {
        symbols.push_back(kernel.symbol);
        break;
      }
  return symbols;
}

/// One kernel under one launch case, with what is asked of it and what came out.
struct Question {
  const PlannedCase* planned = nullptr;   ///< null: any launch
  const PlannedCase* condition = nullptr; ///< or any that fulfils this
  const KernelCode* code = nullptr;       ///< of a kernel that is written out for it
  bool isAsked = true;                    ///< else only the model is wanted
  double seconds = 0;
  unsigned milliseconds = 0;
  ExprContext exprs;
  KernelModel model;
  KernelAnswers answers;
  std::optional<LaunchTraffic> traffic; ///< of known launches
  bool lanesMayPart = false;
};

/// Who gives each question more than the default gives the whole kernel more.
double paceOf(const Options& options) { return std::max(1.0, options.questionMilliseconds / 1000.0); }
double secondsOf(const Options& options) { return options.kernelSeconds * paceOf(options); }

/// Of a question that is worth asking where it is answered easily.
unsigned easily(unsigned milliseconds, const Options& options) {
  return std::min(options.questionMilliseconds, unsigned(milliseconds * paceOf(options)));
}

/// The questions about one kernel, and from the answers its results. Models are made one after the other
/// (LLVM's contexts are not for several threads); the questions of several kernels are then answered side by
/// side.
class KernelAnalysis {
public:
  KernelAnalysis(const PreparedModule& prepared, const KernelCode& code, const Facts& facts,
                 const Options& options)
      : code(code), facts(facts), plan(planLaunches(facts, *code.kernel, usedAxes(*code.function), options)),
        anyLaunch(options.anyLaunch) {
    if (isLibraryCode()) return;
    for (const PlannedCase& planned : plan.concrete) {
      Question& question = questions.emplace_back();
      question.planned = &planned;
      question.seconds = 0.5 * secondsOf(options) / double(plan.concrete.size());
      question.milliseconds = options.questionMilliseconds;
      question.model = buildModel(question.exprs, prepared, code, facts, planned.launch);
      question.lanesMayPart = lanesMayPart(*code.function);
    }
    // The answer for any launch is worth having where it comes easily; the known launches are what counts.
    constexpr unsigned kEasily = 150;
    Question& any = questions.emplace_back();
    any.isAsked = options.anyLaunch;
    any.seconds = 0.4 * secondsOf(options);
    any.milliseconds = easily(kEasily, options);
    any.model = buildModel(any.exprs, prepared, code, facts, plan.any);
  }

  /// Where something is proved for the known launches but not for any: the next condition to try. Null when
  /// there is none.
  Question* tryCondition(const PreparedModule& prepared, const Options& options) {
    if (questions.empty() || !anyLaunch) return nullptr;
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
    question.model = buildModel(question.exprs, prepared, code, facts, question.condition->launch);
    return &question;
  }

  /// Where no race is found in the launches that are known, or chosen: others, which share the work out over
  /// more threads or are of another shape.
  std::vector<Question*> tryOthers(const PreparedModule& prepared, const Options& options) {
    const bool finds = llvm::any_of(
        questions, [&](Question& q) { return q.planned && !settledBy(q).answers.races.empty(); });
    if (questions.empty() || !anyLaunch || finds) return {};
    if (!isProvedForShapes(Property::RaceFree)) others = unevenLaunches(plan);
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
      question.model = buildModel(question.exprs, prepared, code, facts, other.planned.launch);
      result.push_back(&question);
    }
    return result;
  }

  /// Where a known launch leaves open whether threads race: the kernel with its loops written out for it.
  std::vector<Question*> tryWrittenOut(const PreparedModule& prepared, const Options& options) {
    constexpr unsigned kEasily = 300;
    std::vector<Question*> result;
    for (const Question& open : questions) {
      if (!open.planned || answerOf(open, Property::RaceFree) != Answer::Unknown) continue;
      auto copy = writtenOut(code, open.planned->launch);
      if (!copy) continue;
      Question& question = copies.emplace_back();
      question.code = &copiedCode.emplace_back(*copy);
      question.planned = open.planned;
      question.seconds = 0.5 * open.seconds;
      question.milliseconds = easily(kEasily, options);
      question.model = buildModel(question.exprs, prepared, *copy, facts, open.planned->launch);
      result.push_back(&question);
    }
    return result;
  }

  std::deque<Question> questions; ///< never moved: models refer to their expressions; none: left to the run
  std::set<SiteId> sites, safe;

  void finish(Analysis& analysis, Coverage& coverage) {
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
    if (plan.isDefault && facts.hasMain) doubtInvented(result.properties, analysis);
    tellOthers(analysis);
    PropertyResult initialized = any.initialized; // one launch may hide a read
    initialized.holdsFor = any.holdsFor;
    result.properties.push_back(std::move(initialized));
    collectSafeSites(any, cases);
    analysis.kernels.push_back(std::move(result));
    finishTraffic(analysis, coverage);
  }

private:
  static Answer answerOf(const Question& question, Property property) {
    for (const PropertyResult& result : question.answers.properties)
      if (result.property == property) return result.answer;
    return Answer::Unknown;
  }
  static bool isProved(const Question& question, Property property) {
    return answerOf(question, property) == Answer::Proved;
  }

  /// Whether all of its races may only seem so because nobody follows how a loop goes on.
  static bool leansOnLoops(const Question& question) {
    return llvm::all_of(question.answers.races,
                        [](const RaceResult& race) { return race.witness.leansOn(CauseKind::Loop); });
  }

  /// Whether one of its races hangs on nothing but what arrays and numbers hold.
  static bool leansOnValues(const Question& question) {
    return llvm::any_of(question.answers.races, [](const RaceResult& race) {
      return llvm::all_of(race.witness.causes, [](const Cause& cause) {
        return cause.kind == CauseKind::Content || cause.kind == CauseKind::AnyInput ||
               cause.kind == CauseKind::Launch;
      });
    });
  }

  /// The question about the written out kernel, where that says more of whether threads race.
  Question& settledBy(Question& question) {
    for (Question& copy : copies) {
      if (copy.planned != question.planned) continue;
      const bool saysMore = leansOnLoops(question) && leansOnValues(copy) &&
                            !racesToTell(copy.answers, {facts, copy.model, {}}).empty();
      if (saysMore || answerOf(copy, Property::RaceFree) != Answer::Unknown) return copy;
    }
    return question;
  }

  /// For blocks of more than one shape.
  bool isProvedForShapes(Property property) const {
    return isProved(questions.back(), property) || llvm::any_of(tried, [&](const Question& question) {
             return !question.condition->launch.block[1] && isProved(question, property);
           });
  }

  /// Races or barriers are proved for the known launches and not for any.
  bool isOpenForAny() const {
    return llvm::any_of(std::array{Property::RaceFree, Property::BarriersUniform}, [&](Property property) {
      if (isProved(questions.back(), property)) return false;
      return llvm::all_of(questions, [&](const Question& q) { return !q.planned || isProved(q, property); });
    });
  }

  bool isSettled(const Question& question) const {
    return llvm::all_of(std::array{Property::RaceFree, Property::BarriersUniform}, [&](Property property) {
      return isProved(question, property) || isProved(questions.back(), property);
    });
  }

  static std::vector<std::uint32_t> sharedLengths(const KernelModel& model) {
    std::vector<std::uint32_t> lengths;
    for (const MemoryObject& object : model.objects)
      if (object.space == MemorySpace::Shared && object.bytes && object.elementBytes)
        lengths.push_back(std::uint32_t(*object.bytes / object.elementBytes));
    return lengths;
  }

  /// A kernel of Thrust or CUB without a line of the user's: its launches are the library's own.
  bool isLibraryCode() const {
    if (!code.kernel->inSystemHeader) return false;
    return llvm::none_of(llvm::instructions(*code.function), [&](const llvm::Instruction& instruction) {
      const SiteId site = siteOf(instruction);
      return site < facts.sites.size() && !facts.sites[site].inSystemHeader;
    });
  }

  void leaveToTheRun(Analysis& analysis) const {
    KernelResult result{code.kernel->symbol, code.kernel->name, code.kernel->where, {}, {}};
    for (Property property :
         {Property::RaceFree, Property::BarriersUniform, Property::InBounds, Property::Initialized})
      result.properties.push_back(
          {property, Answer::Unknown, "kernels of libraries are checked in the run alone", "", {}, false});
    analysis.kernels.push_back(std::move(result));
  }

  /// Launches that nobody asked about: what is proved of the others says nothing of them.
  void openLeftOut(std::vector<PropertyResult>& properties) const {
    for (PropertyResult& property : properties) {
      if (property.answer != Answer::Proved) continue;
      if (plan.anyCoversLeftOut && property.holdsFor == plan.anyText) continue;
      property.answer = Answer::Unknown;
      property.reason = plan.leftOut;
      property.holdsFor.clear();
      property.assumptions.clear();
    }
  }

  /// The program launches the kernel in a way that the source does not show, or not at all: what happens in a
  /// launch of kcheck's own choice need never happen.
  void doubtInvented(std::vector<PropertyResult>& properties, Analysis& analysis) const {
    const std::string lean = plan.concrete.front().holdsFor;
    for (Finding& finding : analysis.findings) {
      if (finding.holdsFor != lean || finding.kernel != code.kernel->name) continue;
      if (finding.verdict != Verdict::Proved || (finding.severity == Severity::Note && !finding.sameValue))
        continue;
      finding.verdict = Verdict::Possible;
      finding.severity = std::min(finding.severity, Severity::Warning);
      finding.reason = "the launch " + lean;
      finding.leansOnHost = true;
    }
    for (PropertyResult& property : properties) {
      if (property.answer != Answer::Refuted) continue;
      property.answer = Answer::Unknown;
      property.reason = "it fails for " + lean;
      property.holdsFor.clear();
    }
  }

  void tellOthers(Analysis& analysis) {
    std::set<SiteId> told; // of a wide block and of a high one
    for (std::size_t i = 0; i < others.size(); ++i) {
      Question& question = otherQuestions[i];
      keepTellingRaces(question.answers, others[i]);
      for (Finding& finding :
           findingsOf(question.answers, {facts, question.model, others[i].planned.holdsFor})) {
        if (!finding.accesses.empty() && !told.insert(finding.accesses.front().site).second) continue;
        wordAsLarger(finding, others[i]);
        analysis.findings.push_back(std::move(finding));
      }
    }
  }

  void finishTraffic(Analysis& analysis, Coverage& coverage) {
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

  CaseAnswers answersOf(Question& question, Analysis& analysis) {
    const KernelModel& model = question.model;
    CaseAnswers result;
    result.holdsFor = question.planned     ? question.planned->holdsFor
                      : question.condition ? question.condition->holdsFor
                                           : plan.anyText;
    result.isCovered =
        !question.planned || (covers(plan.any, question.planned->launch) && !model.breaksAssumption);
    if (question.planned) result.narrowed = question.planned->narrowed;
    result.properties = question.answers.properties;
    result.initialized = checkInitialization(model, question.code ? *question.code : code);
    result.assumptions = model.assumptions;
    result.safeSites = question.answers.safeSites;
    for (const Phase& phase : model.gridPhases)
      for (const ModelAccess& access : phase.accesses) sites.insert(access.site);
    FindingContext context{facts, model, result.holdsFor};
    adjustProperties(result.properties, question.answers, context);
    if (question.planned) {
      auto found = findingsOf(question.answers, context);
      analysis.findings.insert(analysis.findings.end(), found.begin(), found.end());
      auto open = openRacesOf(question.answers, context);
      if (!open.empty()) analysis.signalled[code.kernel->symbol].merge(signalledIn(model));
      llvm::append_range(analysis.openRaces, std::move(open));
    }
    return result;
  }

  /// Safe in every launch of the program: in any launch, or in each of those that are known. Proofs that rest
  /// on assumptions do not count: a run could see them broken. Nor do those that leave out axes which a
  /// launch may have.
  void collectSafeSites(const CaseAnswers& any, const std::vector<CaseAnswers>& cases) {
    const bool showsShapes =
        llvm::all_of(cases, [](const CaseAnswers& one) { return one.narrowed.empty(); }) &&
        !(plan.isDefault && plan.isNarrowed);
    if (!showsShapes) return;
    for (SiteId site : sites) {
      bool always = any.assumptions.empty() && any.safeSites.count(site) &&
                    llvm::all_of(cases, [](const CaseAnswers& one) { return one.isCovered; });
      bool each = !plan.isDefault && !cases.empty();
      for (const CaseAnswers& one : cases)
        each = each && one.assumptions.empty() && one.safeSites.count(site);
      if (always || each) safe.insert(site);
    }
  }

  const KernelCode& code;
  const Facts& facts;
  LaunchPlan plan;
  bool anyLaunch;
  std::vector<PlannedCase> conditions; ///< to try, and those that have been
  std::deque<Question> tried;
  std::deque<KernelCode> copiedCode;
  std::deque<Question> copies; ///< written out
  std::vector<LargerLaunch> others;
  std::deque<Question> otherQuestions;
};

/// Answers all questions, on as many threads as asked for.
void answer(const std::vector<Question*>& questions, unsigned jobs) {
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t i = next++; i < questions.size(); i = next++) {
      if (!questions[i]->isAsked) continue;
      Limits limits;
      limits.kernelSeconds = std::max(0.05, questions[i]->seconds);
      limits.questionMilliseconds = questions[i]->milliseconds;
      limits.proofOnly = !questions[i]->planned;
      questions[i]->answers = decide(questions[i]->model, questions[i]->exprs, limits);
      if (questions[i]->planned && !questions[i]->code)
        questions[i]->traffic = trafficOf(questions[i]->model, questions[i]->lanesMayPart);
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < std::min<std::size_t>(jobs, questions.size()); ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
}

/// What Coverage says of the launches whose grid the program computes from sizes that it does not fix.
void addSampledCoverage(const PreparedModule& prepared, const Facts& facts, const Options& options,
                        std::vector<Finding>& findings) {
  const auto sample = sampled(facts);
  if (!sample) return;
  Coverage coverage(sample->facts);
  for (const KernelCode& code : prepared.kernels) {
    const LaunchPlan plan = planLaunches(sample->facts, *code.kernel, usedAxes(*code.function), options);
    for (const PlannedCase& planned : plan.concrete) {
      ExprContext exprs;
      const KernelModel model = buildModel(exprs, prepared, code, sample->facts, planned.launch);
      coverage.add({planned.launch.launch, &model, trafficOf(model, lanesMayPart(*code.function))});
    }
  }
  for (Finding& finding : coverage.findings()) {
    const auto launch = llvm::find_if(
        facts.launches, [&](const Launch& one) { return one.where == finding.where && !one.grid.whole(); });
    if (launch == facts.launches.end()) continue;
    wordAsSample(finding, *sample, *launch);
    findings.push_back(std::move(finding));
  }
}

} // namespace

void prepareSolver() { smt::prepareSolver(); }

Analysis analyze(const llvm::Module& device, const Facts& facts, const Options& options) {
  Analysis analysis;
  std::vector<std::string> wanted = wantedKernels(facts, options);
  if (!options.kernels.empty() && wanted.empty()) return analysis;
  PreparedModule prepared = prepare(device, facts, wanted);
  std::set<SiteId> unsafe;
  Coverage coverage(facts);
  constexpr std::size_t kAtOnce = 16; // models are large
  for (std::size_t from = 0; from < prepared.kernels.size(); from += kAtOnce) {
    std::deque<KernelAnalysis> batch;
    std::vector<Question*> questions;
    for (std::size_t i = from; i < std::min(from + kAtOnce, prepared.kernels.size()); ++i)
      for (Question& question : batch.emplace_back(prepared, prepared.kernels[i], facts, options).questions)
        questions.push_back(&question);
    answer(questions, options.jobs);
    questions.clear();
    for (KernelAnalysis& kernel : batch)
      for (Question* question : kernel.tryWrittenOut(prepared, options)) questions.push_back(question);
    answer(questions, options.jobs);
    for (;;) {
      questions.clear();
      for (KernelAnalysis& kernel : batch)
        if (Question* question = kernel.tryCondition(prepared, options)) questions.push_back(question);
      if (questions.empty()) break;
      answer(questions, options.jobs);
    }
    questions.clear();
    for (KernelAnalysis& kernel : batch)
      for (Question* question : kernel.tryOthers(prepared, options)) questions.push_back(question);
    answer(questions, options.jobs);
    for (KernelAnalysis& kernel : batch) {
      kernel.finish(analysis, coverage);
      for (SiteId site : kernel.sites) (kernel.safe.count(site) ? analysis.provedSafe : unsafe).insert(site);
    }
  }
  if (wanted.empty()) { // else other kernels may touch what these leave
    for (Finding& finding : coverage.findings()) analysis.findings.push_back(std::move(finding));
    addSampledCoverage(prepared, facts, options, analysis.findings);
  }
  for (SiteId site : unsafe) analysis.provedSafe.erase(site);
  if (!wanted.empty()) analysis.provedSafe.clear(); // other kernels may come to the same sites
  analysis.provedSafe.erase(kNoSite);
  return analysis;
}

std::string dumpModel(const llvm::Module& device, const Facts& facts, const Options& options) {
  PreparedModule prepared = prepare(device, facts, wantedKernels(facts, options));
  std::string out;
  for (const KernelCode& code : prepared.kernels) {
    ExprContext exprs;
    LaunchPlan plan = planLaunches(facts, *code.kernel, usedAxes(*code.function), options);
    const LaunchCase& launch = plan.concrete.empty() ? plan.any : plan.concrete.front().launch;
    out += dump(buildModel(exprs, prepared, code, facts, launch));
  }
  return out;
}

} // namespace kcheck::analyzer
