#include "analyzer/findings/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace kcheck::analyzer {
namespace {

/// In a function that the kernel calls: there an array goes by the name of a parameter, which says nothing to
/// who looks at the kernel.
bool isInHelper(const Site& site, const MemoryObject& object, const FindingContext& context) {
  const auto isOfName = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return site.function != context.model.kernel->name && !object.isUnknown && !object.name.empty() &&
         !site.array.empty() && std::ranges::all_of(site.array, isOfName) &&
         std::ranges::all_of(object.name, isOfName);
}

std::string arrayOf(const ModelAccess& access, const FindingContext& context) {
  const MemoryObject& object = context.model.objects[access.object];
  if (access.site >= context.facts.sites.size()) return object.name;
  const Site& site = context.facts.sites[access.site];
  return site.array.empty() || isInHelper(site, object, context) ? object.name : site.array;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return text;
}

std::string valuesText(const std::vector<std::pair<std::string, std::int64_t>>& values,
                       const Witness& witness) {
  constexpr unsigned kMost = 6;
  std::string text;
  std::set<std::string> told;
  for (const auto& [name, value] : values) {
    const std::string plain =
        name.substr(0, name.find('\'')); // without the mark of a further one of that name
    if (std::ranges::find(witness.implied, name) != witness.implied.end() || told.size() == kMost) continue;
    if (!told.insert(plain).second) continue;
    text += fmt::format("{}{} = {}", told.size() > 1 ? ", " : "", plain, value);
  }
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
  const MemoryObject& object = context.model.objects[access.object];
  if (access.site < context.facts.sites.size() && !context.facts.sites[access.site].expr.empty()) {
    const Site& site = context.facts.sites[access.site];
    const std::string& text = site.expr;
    const std::size_t at = text.starts_with('*') ? 1 : 0, end = at + site.array.size();
    const bool isNamed = text.compare(at, site.array.size(), site.array) == 0 &&
                         (end == text.size() || text[end] == '[' || text[end] == '.' || text[end] == '-');
    if (!isNamed || !isInHelper(site, object, context)) return text;
    return text.substr(0, at) + object.name + text.substr(end);
  }
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
  auto add = [&](const char* whose, const std::vector<std::pair<std::string, std::int64_t>>& values) {
    const std::string text = valuesText(values, witness);
    if (!text.empty()) parts.push_back(whose + text);
  };
  add("with ", witness.shared);
  add(kFirstThreadHas, witness.first.values);
  add(kSecondThreadHas, witness.second.values);
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
