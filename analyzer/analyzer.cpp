#include "analyzer/analyzer.h"
#include "analyzer/launches.h"
#include "analyzer/model/model_builder.h"

#include "llvm/IR/Module.h"

namespace kcheck::analyzer {

Analysis analyze(const llvm::Module&, const Facts&, const Options&) { return {}; }

std::string dumpModel(const llvm::Module& device, const Facts& facts, const Options& options) {
  PreparedModule prepared = prepare(device, facts, options.kernels);
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
