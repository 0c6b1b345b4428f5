#include "analyzer/findings/kinds.h"
#include "analyzer/findings/parts.h"

#include <fmt/format.h>

namespace kcheck::analyzer {

Finding askewFinding(const AskewResult& askew, const FindingContext& context) {
  const ModelAccess& access = *askew.access;
  const WitnessThread& thread = askew.witness.first;
  const char* verb = access.kind == AccessKind::Read    ? "read"
                     : access.kind == AccessKind::Write ? "write"
                                                        : "update";
  Finding finding;
  finding.rule = "misaligned";
  finding.where = access.where;
  finding.accesses = {accessOf(access, thread, context)};
  finding.memory = memoryOf(access, thread, context);
  finding.message =
      fmt::format("{} of {} bytes at an address that is no multiple of {}", verb, thread.bytes, access.align);
  settleVerdict(finding, askew.witness, context, {access.offset, access.condition});
  addValues(finding, askew.witness);
  return finding;
}

} // namespace kcheck::analyzer
