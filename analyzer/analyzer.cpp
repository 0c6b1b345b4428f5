// The static pass over a module: per kernel the model and the answers for any launch, then for the launches
// that are known, and from these one answer per property and the findings.
#include "analyzer/analyzer.h"

#include "analyzer/findings.h"
#include "analyzer/launches.h"
#include "analyzer/properties.h"
#include "report/kernel_name.h"

#include "llvm/IR/Module.h"

#include <chrono>

namespace kcheck::analyzer {
namespace {

using Clock = std::chrono::steady_clock;

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

/// Analyses one kernel within its budget of time.
class KernelAnalysis {
public:
  KernelAnalysis(const PreparedModule& prepared, const KernelCode& code, const Facts& facts,
                 const Options& options, Analysis& analysis)
      : prepared(prepared), code(code), facts(facts), options(options), analysis(analysis) {}

  void run() {
    LaunchPlan plan = planLaunches(facts, *code.kernel, usedAxes(*code.function), options);
    KernelResult result;
    result.symbol = code.kernel->symbol;
    result.name = code.kernel->name;
    result.where = code.kernel->where;
    std::vector<CaseAnswers> cases;
    for (const PlannedCase& planned : plan.concrete) {
      cases.push_back(answer(planned.launch, planned.holdsFor, 0.5 / double(plan.concrete.size()), true));
      result.launches.push_back(planned.shown);
    }
    CaseAnswers any = answer(plan.any, plan.anyText, 0.4, false);
    result.properties = mergeProperties(any, cases);
    PropertyResult initialized;
    initialized.property = Property::Initialized;
    initialized.reason = "reads of memory that nobody wrote are looked for in the run alone";
    result.properties.push_back(std::move(initialized));
    collectSafeSites(any, cases, plan.isDefault);
    analysis.kernels.push_back(std::move(result));
  }

  std::set<SiteId> sites, safe;

private:
  CaseAnswers answer(const LaunchCase& launch, const std::string& holdsFor, double share, bool wantFindings) {
    ExprContext exprs;
    KernelModel model = buildModel(exprs, prepared, code, facts, launch);
    Limits limits;
    double left = options.kernelSeconds - std::chrono::duration<double>(Clock::now() - start).count();
    limits.kernelSeconds = std::max(0.05, std::min(left, share * options.kernelSeconds));
    // The answer for any launch is worth having where it comes easily; the known launches are what counts.
    constexpr unsigned kEasily = 150;
    limits.questionMilliseconds =
        wantFindings ? options.questionMilliseconds : std::min(options.questionMilliseconds, kEasily);
    KernelAnswers answers = decide(model, exprs, limits);
    CaseAnswers result;
    result.holdsFor = holdsFor;
    result.properties = answers.properties;
    result.assumptions = model.assumptions;
    result.safeSites = answers.safeSites;
    for (const Phase& phase : model.gridPhases)
      for (const ModelAccess& access : phase.accesses) sites.insert(access.site);
    FindingContext context{facts, model, holdsFor};
    adjustProperties(result.properties, answers, context);
    if (wantFindings) {
      auto found = findingsOf(answers, context);
      analysis.findings.insert(analysis.findings.end(), found.begin(), found.end());
    }
    return result;
  }

  /// Safe in every launch of the program: in any launch, or in each of those that are known. Proofs that rest
  /// on assumptions do not count: a run could see them broken.
  void collectSafeSites(const CaseAnswers& any, const std::vector<CaseAnswers>& cases, bool isDefault) {
    for (SiteId site : sites) {
      bool always = any.assumptions.empty() && any.safeSites.count(site);
      bool each = !isDefault && !cases.empty();
      for (const CaseAnswers& one : cases)
        each = each && one.assumptions.empty() && one.safeSites.count(site);
      if (always || each) safe.insert(site);
    }
  }

  const PreparedModule& prepared;
  const KernelCode& code;
  const Facts& facts;
  const Options& options;
  Analysis& analysis;
  Clock::time_point start = Clock::now();
};

} // namespace

Analysis analyze(const llvm::Module& device, const Facts& facts, const Options& options) {
  Analysis analysis;
  std::vector<std::string> wanted = wantedKernels(facts, options);
  if (!options.kernels.empty() && wanted.empty()) return analysis;
  PreparedModule prepared = prepare(device, facts, wanted);
  std::set<SiteId> unsafe;
  for (const KernelCode& code : prepared.kernels) {
    KernelAnalysis kernel(prepared, code, facts, options, analysis);
    kernel.run();
    for (SiteId site : kernel.sites) (kernel.safe.count(site) ? analysis.provedSafe : unsafe).insert(site);
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
