#include "analyzer/findings/kinds.h"
#include "analyzer/findings/parts.h"

#include <fmt/format.h>

namespace kcheck::analyzer {

Finding divergenceFinding(const DivergenceResult& divergence, const FindingContext& context) {
  const BarrierControl& control = *divergence.control;
  Finding finding;
  finding.rule = control.mask || control.isTogether ? "warp-mask" : "barrier-divergence";
  const char* group = control.reach == BarrierReach::Warp   ? "warp"
                      : control.reach == BarrierReach::Grid ? "grid"
                                                            : "block";
  if (control.needsAll) {
    finding.message =
        fmt::format("the matrix operation takes all lanes of the warp: the branch at line {} keeps some away",
                    control.branch.line);
    finding.hint = "move the call out of the branch";
  } else if (control.mask || control.isTogether) {
    finding.message = fmt::format(
        "the mask names lanes that do not come: the branch at line {} keeps them away", control.branch.line);
    finding.hint = fmt::format("name the lanes that come, or move the {} out of the branch",
                               control.isTogether ? "call" : "barrier");
  } else if (control.othersExit) {
    finding.message =
        fmt::format("threads of the {} end without this barrier: the branch at line {} leads them past it",
                    group, control.branch.line);
    finding.hint = "let every thread reach the barrier and guard the work instead";
  } else {
    finding.message =
        fmt::format("not all threads of the {} reach this barrier: the branch at line {} parts them", group,
                    control.branch.line);
    finding.hint = fmt::format("move the barrier out of the branch at line {}", control.branch.line);
  }
  finding.where = control.barrier;
  settleVerdict(finding, divergence.witness, context, {control.reached, control.condition});
  // Flags and counters that the threads agree on by atomics: a run has the values that come about.
  finding.leansOnHost |=
      divergence.witness.leansOn(CauseKind::Order) || divergence.witness.leansOn(CauseKind::Wait);
  auto name = [](const WitnessThread& t) {
    return fmt::format("thread ({},{},{}) of block ({},{},{})", t.thread.x, t.thread.y, t.thread.z, t.block.x,
                       t.block.y, t.block.z);
  };
  finding.notes.push_back(
      {control.branch, fmt::format("{} and {} go different ways here", name(divergence.witness.first),
                                   name(divergence.witness.second))});
  addValues(finding, divergence.witness);
  return finding;
}

Finding laneCallFinding(const LaneCallResult& result, const FindingContext& context) {
  const WitnessThread& thread = result.witness.first;
  Finding finding;
  finding.rule = "warp-mask";
  finding.where = result.call->where;
  finding.message = fmt::format("thread ({},{},{}) comes to a warp collective whose mask leaves it out",
                                thread.thread.x, thread.thread.y, thread.thread.z);
  finding.hint = "the mask must name every lane that calls, the caller included";
  settleVerdict(finding, result.witness, context, {result.call->unnamed});
  addValues(finding, result.witness);
  return finding;
}

} // namespace kcheck::analyzer
