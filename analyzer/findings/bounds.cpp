#include "analyzer/findings/kinds.h"
#include "analyzer/findings/parts.h"
#include "analyzer/findings/worth_telling.h"
#include "report/counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kcheck::analyzer {
namespace {

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

const char* verbOf(const ModelAccess& access) {
  return access.kind == AccessKind::Read ? "read" : access.kind == AccessKind::Write ? "written" : "updated";
}

void wordAsFreed(Finding& finding, const ModelAccess& access, const MemoryObject& object) {
  finding.rule = "use-after-free";
  finding.message = fmt::format("`{}` is {} after it was freed", finding.memory->name, verbOf(access));
  finding.notes.push_back({object.freed, "freed here, before the launch"});
}

std::string whereTo(const Finding& finding, const WitnessThread& thread) {
  const bool isBefore = thread.offset < 0;
  if (finding.accesses[0].expr == finding.memory->name) return isBefore ? "before its start" : "past its end";
  return fmt::format("{} of `{}`", isBefore ? "before the start" : "past the end", finding.memory->name);
}

} // namespace

Finding boundsFinding(const BoundsResult& bounds, const FindingContext& context) {
  const ModelAccess& access = *bounds.access;
  const WitnessThread& thread = bounds.witness.first;
  Finding finding;
  finding.rule = "out-of-bounds";
  finding.where = access.where;
  finding.accesses = {accessOf(access, thread, context)};
  finding.memory = memoryOf(access, thread, context);
  const char* verb = verbOf(access);
  finding.message = fmt::format("`{}` is {} {}", exprOf(access, context), verb, whereTo(finding, thread));
  if (finding.memory->size)
    finding.message += fmt::format(": {} at byte {}, of {}", counted(thread.bytes, "byte"), thread.offset,
                                   *finding.memory->size);
  const MemoryObject& object = context.model.objects[access.object];
  if (object.freed.known())
    wordAsFreed(finding, access, object);
  else if (object.bytes == 0 && object.space == MemorySpace::Shared)
    finding.hint =
        "launch with as many bytes of dynamic shared memory as the kernel uses: <<<grid, block, bytes>>>";
  else if (object.bytes && object.elementBytes && thread.offset >= 0)
    finding.hint = fmt::format("guard the access: `{}` has {}", finding.memory->name,
                               counted(*object.bytes / object.elementBytes, "element"));
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

} // namespace kcheck::analyzer
