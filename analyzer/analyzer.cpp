// The static pass over a module: per kernel the model and the answers for any launch, then for the launches
// that are known, and from these one answer per property and the findings.
#include "analyzer/analyzer.h"

#include "analyzer/kernel_analysis.h"
#include "analyzer/samples.h"
#include "analyzer/separable.h"
#include "analyzer/smt/solver.h"
#include "analyzer/traffic/partings.h"
#include "report/kernel_name.h"

#include "llvm/IR/Module.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <string>
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

/// The time of each kernel. Instances of one template ask much the same: from the third on they share what
/// two have, down to a quarter each.
class Shares {
public:
  Shares(const PreparedModule& prepared, const Options& options) : options(options) {
    for (const KernelCode& code : prepared.kernels) ++instances[templateOf(*code.kernel)];
  }

  Options of(const KernelCode& code) const {
    constexpr double kFew = 2, kLeast = 0.25;
    Options own = options;
    own.kernelSeconds *= std::clamp(kFew / double(instances.at(templateOf(*code.kernel))), kLeast, 1.0);
    return own;
  }

private:
  static std::string templateOf(const Kernel& kernel) {
    return std::string(llvm::StringRef(withoutParameters(kernel.name)).split('<').first);
  }

  const Options& options;
  std::map<std::string, unsigned> instances;
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
      const KernelModel model = separableModel(exprs, prepared, code, sample->facts, planned.launch);
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
  const Shares shares(prepared, options);
  constexpr std::size_t kAtOnce = 16; // models are large
  for (std::size_t from = 0; from < prepared.kernels.size(); from += kAtOnce) {
    std::deque<KernelAnalysis> batch;
    std::vector<Question*> questions;
    for (std::size_t i = from; i < std::min(from + kAtOnce, prepared.kernels.size()); ++i)
      for (const KernelCode& code = prepared.kernels[i];
           Question & question : batch.emplace_back(prepared, code, facts, shares.of(code)).questions)
        questions.push_back(&question);
    answer(questions, options.jobs);
    questions.clear();
    for (KernelAnalysis& kernel : batch)
      for (Question* question : kernel.tryMadeBarriers(prepared)) questions.push_back(question);
    answer(questions, options.jobs);
    questions.clear();
    for (KernelAnalysis& kernel : batch)
      for (Question* question : kernel.tryWrittenOut(prepared)) questions.push_back(question);
    answer(questions, options.jobs);
    questions.clear();
    for (KernelAnalysis& kernel : batch)
      for (Question* question : kernel.tryOtherChoices(prepared)) questions.push_back(question);
    answer(questions, options.jobs);
    for (;;) {
      questions.clear();
      for (KernelAnalysis& kernel : batch)
        if (Question* question = kernel.tryCondition(prepared)) questions.push_back(question);
      if (questions.empty()) break;
      answer(questions, options.jobs);
    }
    questions.clear();
    for (KernelAnalysis& kernel : batch)
      for (Question* question : kernel.tryOthers(prepared)) questions.push_back(question);
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
    out += dump(separableModel(exprs, prepared, code, facts, launch));
  }
  return out;
}

} // namespace kcheck::analyzer
