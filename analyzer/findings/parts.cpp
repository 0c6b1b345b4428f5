#include "analyzer/findings/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace kcheck::analyzer {
namespace {

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

std::string valuesText(const std::vector<std::pair<std::string, std::int64_t>>& values) {
  constexpr std::size_t kMost = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(values.size(), kMost); ++i)
    text += fmt::format("{}{} = {}", i ? ", " : "", values[i].first, values[i].second);
  return text;
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

} // namespace

std::string exprOf(const ModelAccess& access, const FindingContext& context) {
  if (access.site < context.facts.sites.size() && !context.facts.sites[access.site].expr.empty())
    return context.facts.sites[access.site].expr;
  const MemoryObject& object = context.model.objects[access.object];
  return object.isUnknown ? "memory behind a pointer" : object.name;
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

void addValues(Finding& finding, const Witness& witness) {
  std::vector<std::string> parts;
  if (!witness.shared.empty()) parts.push_back("with " + valuesText(witness.shared));
  if (!witness.first.values.empty()) parts.push_back(kFirstThreadHas + valuesText(witness.first.values));
  if (!witness.second.values.empty()) parts.push_back(kSecondThreadHas + valuesText(witness.second.values));
  if (parts.empty()) return;
  finding.notes.push_back({finding.where, joined(parts)});
}

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

} // namespace kcheck::analyzer
