// One report from both passes: a finding that the static pass names and the run saw is one finding, the
// answers per kernel take in what the run saw, and where the passes contradict each other the report says so.
#pragma once

#include "report/report.h"
#include "report/rules.h"

namespace kcheck {

struct StaticPart {
  std::vector<Finding> findings;
  std::vector<KernelResult> kernels;
  std::vector<Metric> metrics;
  std::set<std::string> briefKernels; ///< symbols: each thread is done after a few steps
  double seconds = 0;
};

struct RunPart {
  std::vector<Finding> findings;
  std::vector<Metric> metrics;
  RunResult run;
};

struct MergeOptions {
  std::string version;
  RuleSet rules = RuleSet::all();
  std::vector<std::string> kernels; ///< only these, as namesKernel reads them; empty: all
  bool strict = false;              ///< two writes of the same value are an error, else a note
};

/// `staticPart` is absent when the static pass was not asked. Findings come out sorted by place.
Report mergeReport(Facts facts, std::optional<StaticPart> staticPart, RunPart runPart,
                   const MergeOptions& options);

} // namespace kcheck
