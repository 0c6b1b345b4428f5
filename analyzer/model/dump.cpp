// The text of --dump=model.
#include "analyzer/kernel_model.h"

#include <fmt/format.h>

#include <set>

namespace kcheck::analyzer {
namespace {

std::string placeText(const Location& where) {
  return where.known() ? fmt::format("line {}", where.line) : std::string("?");
}

const char* scopeText(AtomicScope scope) {
  switch (scope) {
  case AtomicScope::None: return "";
  case AtomicScope::Block: return " (block scope)";
  case AtomicScope::Device: return " (device scope)";
  case AtomicScope::System: return " (system scope)";
  }
  return "";
}

void dumpPhases(const KernelModel& model, const char* title, const std::vector<Phase>& phases,
                std::string& out) {
  if (phases.empty()) return;
  out += fmt::format("{}\n", title);
  for (const Phase& phase : phases) {
    out += fmt::format("  from {}\n", phase.entry);
    for (const ModelAccess& access : phase.accesses) {
      out += fmt::format("    {} {}{}: {}[{}] {} bytes\n", placeText(access.where), toString(access.kind),
                         scopeText(access.scope), model.objects[access.object].name, toString(access.offset),
                         toString(access.size));
      if (!isTrue(access.condition)) out += fmt::format("      if {}\n", toString(access.condition));
      if (access.stored) out += fmt::format("      value {}\n", toString(access.stored));
      for (const FlagAhead& ahead : access.flagsAhead)
        out += fmt::format("      before {} is set ({}){}\n", model.objects[ahead.object].name,
                           ahead.setter + 1, ahead.isOfBlock ? " by the block" : "");
      for (const FlagSeen& seen : access.flagsSeen)
        out += fmt::format("      behind {}[{}] if {}\n", model.objects[seen.object].name,
                           toString(seen.place), toString(seen.isSeen));
      for (const PhaseAhead& ahead : access.phasesAhead)
        out += fmt::format("      before phase {} of barrier {} is over, if {}\n", toString(ahead.phase),
                           ahead.barrier + 1, toString(ahead.comes));
      for (const PhaseSeen& seen : access.phasesSeen)
        out += fmt::format("      behind phase {} of barrier {} if {}\n", toString(seen.phase),
                           seen.barrier + 1, toString(seen.isOver));
      for (auto& [name, value] : access.locals) out += fmt::format("      {} = {}\n", name, toString(value));
    }
  }
}

} // namespace

std::string dump(const KernelModel& model) {
  std::string out = fmt::format("kernel {}\n", model.kernel ? model.kernel->name : "?");
  out += fmt::format("block {} x {} x {}, grid {} x {} x {}\n", toString(model.blockDim[0]),
                     toString(model.blockDim[1]), toString(model.blockDim[2]), toString(model.gridDim[0]),
                     toString(model.gridDim[1]), toString(model.gridDim[2]));
  out += "objects\n";
  std::set<unsigned> accessed;
  for (auto* phases : {&model.blockPhases, &model.gridPhases})
    for (const Phase& phase : *phases)
      for (const ModelAccess& access : phase.accesses) accessed.insert(access.object);
  for (const MemoryObject& object : model.objects)
    if (accessed.count(object.id))
      out += fmt::format("  {} {}{}{}{}\n", toString(object.space), object.name,
                         object.bytes ? fmt::format(", {} bytes", *object.bytes) : std::string(),
                         object.written ? ", written" : "", object.isUnknown ? ", unknown" : "");
  dumpPhases(model, "phases of a block", model.blockPhases, out);
  dumpPhases(model, "phases of the grid", model.gridPhases, out);
  dumpPhases(model, "phases of a warp", model.warpPhases, out);
  dumpPhases(model, "phases of the lanes that a mask names", model.lanePhases, out);
  for (const auto& [object, flag] : model.flags)
    for (std::size_t i = 0; i < flag.setters.size(); ++i)
      out += fmt::format("flag {}[{}] is set ({}) if {}\n", model.objects[object].name,
                         toString(flag.setters[i].access.offset), i + 1,
                         toString(flag.setters[i].access.condition));
  if (!model.barriers.empty()) out += "barriers\n";
  for (const BarrierControl& control : model.barriers)
    out += fmt::format("  barrier at {} under the branch at {}: {}\n    reached if {}\n",
                       placeText(control.barrier), placeText(control.branch), toString(control.condition),
                       toString(control.reached));
  for (Expr fact : model.facts) out += fmt::format("fact {}\n", toString(fact));
  for (auto& assumption : model.assumptions) out += fmt::format("assuming {}\n", assumption);
  for (const ModelGap& gap : model.gaps)
    out += fmt::format("gap at {}: {}\n", placeText(gap.where), gap.what);
  return out;
}

} // namespace kcheck::analyzer
