#include "analyzer/findings.h"

#include "analyzer/hints.h"
#include "analyzer/sizes.h"
#include "analyzer/worth_telling.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace kcheck::analyzer {
namespace {

std::string exprOf(const ModelAccess& access, const FindingContext& context) {
  if (access.site < context.facts.sites.size() && !context.facts.sites[access.site].expr.empty())
    return context.facts.sites[access.site].expr;
  const MemoryObject& object = context.model.objects[access.object];
  return object.isUnknown ? "memory behind a pointer" : object.name;
}

std::string arrayOf(const ModelAccess& access, const FindingContext& context) {
  if (access.site < context.facts.sites.size() && !context.facts.sites[access.site].array.empty())
    return context.facts.sites[access.site].array;
  return context.model.objects[access.object].name;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return text;
}

Access accessOf(const ModelAccess& access, const WitnessThread& thread, const FindingContext& context) {
  Access result;
  result.kind = access.kind;
  result.site = access.site;
  result.where = access.where;
  result.expr = exprOf(access, context);
  if (access.site < context.facts.sites.size()) result.updates = context.facts.sites[access.site].updates;
  result.block = thread.block;
  result.thread = thread.thread;
  if (thread.stored && access.kind == AccessKind::Write) result.value = std::to_string(*thread.stored);
  return result;
}

std::string valuesText(const std::vector<std::pair<std::string, std::int64_t>>& values) {
  constexpr std::size_t kMost = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(values.size(), kMost); ++i)
    text += fmt::format("{}{} = {}", i ? ", " : "", values[i].first, values[i].second);
  return text;
}

/// The values of the witness that the accesses do not show themselves.
void addValues(Finding& finding, const Witness& witness) {
  std::vector<std::string> parts;
  if (!witness.shared.empty()) parts.push_back("with " + valuesText(witness.shared));
  if (!witness.first.values.empty()) parts.push_back(kFirstThreadHas + valuesText(witness.first.values));
  if (!witness.second.values.empty()) parts.push_back(kSecondThreadHas + valuesText(witness.second.values));
  if (parts.empty()) return;
  finding.notes.push_back({finding.where, joined(parts)});
}

MemoryFact memoryOf(const ModelAccess& access, const WitnessThread& thread, const FindingContext& context) {
  const MemoryObject& object = context.model.objects[access.object];
  MemoryFact memory;
  memory.space = object.space;
  memory.name = object.isUnknown ? std::string() : arrayOf(access, context);
  memory.size = object.bytes;
  if (!object.isUnknown) memory.offset = thread.offset;
  memory.bytes = std::uint64_t(thread.bytes);
  memory.allocatedAt = object.where;
  return memory;
}

/// Whether it matters what an array holds at places that differ from thread to thread: input,
/// of which the run has seen one. What all threads read at one place, a pitch say, is part of the program.
bool followsElements(std::initializer_list<Expr> parts) {
  auto differs = [](Expr n) {
    return n->op == Op::Apply ||
           (n->op == Op::Symbol &&
            (n->symbol->kind == SymbolKind::ThreadIdx || n->symbol->kind == SymbolKind::BlockIdx ||
             n->symbol->kind == SymbolKind::LoopCounter || n->symbol->varies != Varies::Never));
  };
  auto isElement = [&](Expr n) {
    return n->op == Op::Apply && n->function->cause.kind == CauseKind::Launch &&
           std::any_of(n->operands.begin(), n->operands.end(), [&](Expr at) { return anyNode(at, differs); });
  };
  return std::any_of(parts.begin(), parts.end(), [&](Expr part) { return part && anyNode(part, isElement); });
}

void collectHostValues(Expr expression, std::set<const Symbol*>& values) {
  if (!expression) return;
  anyNode(expression, [&](Expr n) {
    if (n->op == Op::Symbol && n->symbol->cause.kind == CauseKind::AnyInput) values.insert(n->symbol);
    return false;
  });
}

/// Whether the host computes the array's size from values of which the text shows nothing to do with those
/// that decide how far the kernel goes: numbers that a class keeps from its constructor on, say. Any value of
/// the ones beside any value of the others is no launch of the program.
bool sizeIsApart(const ModelAccess& access, const FindingContext& context) {
  std::set<const Symbol*> ofSize, ofReach;
  collectHostValues(context.model.objects[access.object].symbolicBytes, ofSize);
  collectHostValues(access.offset, ofReach);
  collectHostValues(access.condition, ofReach);
  for (Expr fact : context.model.facts) collectHostValues(fact, ofReach);
  return !ofSize.empty() && !ofReach.empty() &&
         std::ranges::none_of(ofSize, [&](const Symbol* one) { return ofReach.contains(one); });
}

/// `parts` are the expressions that the finding is about.
void settleVerdict(Finding& finding, const Witness& witness, const FindingContext& context,
                   std::initializer_list<Expr> parts) {
  finding.kernel = context.model.kernel->name;
  finding.verdict = witness.exact() ? Verdict::Proved : Verdict::Possible;
  if (!witness.exact()) finding.severity = std::min(finding.severity, Severity::Warning);
  std::vector<std::string> reasons;
  for (const Cause& cause : witness.causes) reasons.push_back(cause.text);
  finding.reason = joined(reasons);
  finding.leansOnHost = (witness.leansOn(CauseKind::Launch) && !followsElements(parts)) ||
                        witness.leansOn(CauseKind::Lock) || witness.leansOn(CauseKind::Wait);
  finding.holdsFor = context.holdsFor;
}

std::string raceMessage(const RaceResult& race, const FindingContext& context) {
  std::string first = exprOf(*race.first, context), second = exprOf(*race.second, context);
  std::string apart = race.scope == RaceScope::InterBlock ? " from different blocks" : "";
  if (race.scopeTooNarrow)
    return fmt::format("atomic operations on `{}` meet{}, but their scope does not reach that far", first,
                       apart);
  bool update = samePlace(race.first->where, race.second->where) && race.kind != RaceKind::AtomicPlain &&
                race.first->site != race.second->site;
  if (update) return fmt::format("threads update `{}` without ordering, so updates are lost", first);
  switch (race.kind) {
  case RaceKind::AtomicPlain:
    return fmt::format("`{}` is accessed atomically by one thread and plainly by another, without ordering",
                       race.first->kind == AccessKind::Atomic ? first : second);
  case RaceKind::WriteWrite:
    if (race.sameValue) return fmt::format("threads write the same value to `{}` without ordering", first);
    if (first == second)
      return fmt::format("threads write `{}` without ordering, so one write is lost", first);
    return fmt::format("threads write `{}` and `{}`, the same memory, without ordering", first, second);
  default:
    if (race.first->kind == AccessKind::Read) std::swap(first, second);
    return fmt::format("`{}` is read while another thread writes `{}`, without ordering between them", second,
                       first);
  }
}

std::string raceRule(const RaceResult& race, bool withinWarpsOnly, const FindingContext& context) {
  if (race.scopeTooNarrow) return "race-scope";
  if (withinWarpsOnly) return "race-warp";
  return context.model.objects[race.object].space == MemorySpace::Shared ? "race-shared" : "race-global";
}

bool isUnfollowed(const Cause& cause) {
  return cause.kind == CauseKind::Loop || cause.kind == CauseKind::Approximation;
}

/// Where the access goes is what a loop makes of a value, or something else that is not followed. Whether it
/// happens may be: data decide that.
bool goesUnfollowed(const ModelAccess& access) {
  return std::ranges::any_of(causesOf(access.offset), isUnfollowed);
}

/// Whether both lanes of a warp write what a shuffle or vote gave them: which value that is, the model does
/// not know.
bool storesShuffled(const RaceResult& race) {
  auto isShuffled = [](const ModelAccess& access) {
    if (!access.stored) return false;
    const auto causes = causesOf(access.stored);
    return std::ranges::any_of(causes, [](const Cause& cause) { return cause.kind == CauseKind::Warp; });
  };
  return race.kind == RaceKind::WriteWrite && race.scope == RaceScope::IntraWarp && isShuffled(*race.first) &&
         isShuffled(*race.second);
}

Finding raceFinding(const RaceResult& race, bool withinWarpsOnly, const FindingContext& context) {
  Finding finding;
  finding.rule = raceRule(race, withinWarpsOnly, context);
  finding.severity = race.sameValue ? Severity::Note : Severity::Error;
  finding.message = raceMessage(race, context);
  finding.scope = race.scope;
  finding.kind = race.kind;
  finding.sameValue = race.sameValue;
  finding.storesShuffled = storesShuffled(race);
  finding.where = race.first->where;
  finding.accesses = {accessOf(*race.first, race.witness.first, context),
                      accessOf(*race.second, race.witness.second, context)};
  finding.memory = memoryOf(*race.first, race.witness.first, context);
  const bool mayOrder = race.witness.leansOn(CauseKind::Wait) || race.witness.leansOn(CauseKind::Order) ||
                        race.witness.leansOn(CauseKind::Lock);
  finding.hint = raceHint(race, finding.rule, finding.accesses[0].expr, finding.accesses[0].updates,
                          mayOrder && isOrderedWithinBlocksOnly(race, context.model));
  settleVerdict(finding, race.witness, context,
                {race.first->offset, race.first->condition, race.second->offset, race.second->condition});
  finding.goesUnfollowed = std::ranges::any_of(race.witness.causes, isUnfollowed) &&
                           (goesUnfollowed(*race.first) || goesUnfollowed(*race.second));
  const bool leansOnLaunch = std::ranges::all_of(race.witness.causes, [](const Cause& cause) {
    return cause.kind == CauseKind::Launch || cause.kind == CauseKind::AnyInput;
  });
  finding.leansOnInput = leansOnLaunch && !race.witness.causes.empty();
  finding.largerInput =
      finding.leansOnHost && leansOnLaunch && !race.sameValue && needSizesOnly(*race.first, *race.second);
  addValues(finding, race.witness);
  return finding;
}

Finding divergenceFinding(const DivergenceResult& divergence, const FindingContext& context) {
  const BarrierControl& control = *divergence.control;
  Finding finding;
  finding.rule = control.mask || control.isTogether ? "warp-mask" : "barrier-divergence";
  const char* group = control.reach == BarrierReach::Warp   ? "warp"
                      : control.reach == BarrierReach::Grid ? "grid"
                                                            : "block";
  if (control.mask || control.isTogether) {
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

Finding boundsFinding(const BoundsResult& bounds, const FindingContext& context) {
  const ModelAccess& access = *bounds.access;
  const WitnessThread& thread = bounds.witness.first;
  Finding finding;
  finding.rule = "out-of-bounds";
  finding.where = access.where;
  finding.accesses = {accessOf(access, thread, context)};
  finding.memory = memoryOf(access, thread, context);
  const char* verb = access.kind == AccessKind::Read    ? "read"
                     : access.kind == AccessKind::Write ? "written"
                                                        : "updated";
  std::string where = thread.offset < 0 ? "before the start" : "past the end";
  if (finding.memory->size)
    finding.message =
        fmt::format("`{}` is {} {} of `{}`: {} bytes at byte {}, of {}", exprOf(access, context), verb, where,
                    finding.memory->name, thread.bytes, thread.offset, *finding.memory->size);
  else
    finding.message =
        fmt::format("`{}` is {} {} of `{}`", exprOf(access, context), verb, where, finding.memory->name);
  const MemoryObject& object = context.model.objects[access.object];
  if (object.bytes == 0 && object.space == MemorySpace::Shared)
    finding.hint =
        "launch with as many bytes of dynamic shared memory as the kernel uses: <<<grid, block, bytes>>>";
  else if (object.bytes && object.elementBytes && thread.offset >= 0)
    finding.hint = fmt::format("guard the access: `{}` has {} elements", finding.memory->name,
                               *object.bytes / object.elementBytes);
  settleVerdict(finding, bounds.witness, context, {access.offset, access.condition});
  finding.leansOnHost |= sizeIsApart(access, context);
  if (finding.verdict == Verdict::Proved && followsContent(access)) {
    finding.verdict = Verdict::Possible;
    finding.severity = Severity::Warning;
    finding.reason = "the content of the memory that the index comes from";
  }
  addValues(finding, bounds.witness);
  return finding;
}

/// The widest race of a pair tells the story.
Finding tell(const std::vector<const RaceResult*>& pair, const FindingContext& context) {
  auto lesser = [](const RaceResult* a, const RaceResult* b) {
    if (a->witness.exact() != b->witness.exact()) return b->witness.exact();
    if (a->sameValue != b->sameValue) return a->sameValue;
    return unsigned(a->scope) < unsigned(b->scope);
  };
  const RaceResult* told = *std::max_element(pair.begin(), pair.end(), lesser);
  bool withinWarpsOnly = std::all_of(
      pair.begin(), pair.end(), [](const RaceResult* race) { return race->scope == RaceScope::IntraWarp; });
  return raceFinding(*told, withinWarpsOnly, context);
}

/// Of one statement's races the one between warps or blocks tells more than the one within a warp.
void dropCoveredWarpRaces(std::vector<Finding>& findings) {
  auto covered = [&](const Finding& finding) {
    return finding.rule == "race-warp" &&
           std::any_of(findings.begin(), findings.end(), [&](const Finding& other) {
             return (other.rule == "race-shared" || other.rule == "race-global") &&
                    other.verdict == Verdict::Proved && samePlace(other.where, finding.where);
           });
  };
  std::vector<Finding> kept;
  for (const Finding& finding : findings)
    if (!covered(finding)) kept.push_back(finding);
  findings = std::move(kept);
}

} // namespace

std::vector<Finding> findingsOf(const KernelAnswers& answers, const FindingContext& context) {
  std::vector<Finding> findings;
  const auto races = racesToTell(answers, context);
  for (auto& pair : races) findings.push_back(tell(pair, context));
  dropCoveredWarpRaces(findings);
  for (const DivergenceResult* divergence : divergencesToTell(answers, races, context))
    findings.push_back(divergenceFinding(*divergence, context));
  for (const LaneCallResult& call : answers.laneCalls) findings.push_back(laneCallFinding(call, context));
  for (const BoundsResult& bounds : answers.bounds)
    if (isWorthTelling(bounds)) findings.push_back(boundsFinding(bounds, context));
  return findings;
}

} // namespace kcheck::analyzer
