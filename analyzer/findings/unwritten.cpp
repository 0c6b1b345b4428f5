#include "analyzer/findings/kinds.h"
#include "analyzer/findings/parts.h"

#include <fmt/format.h>

namespace kcheck::analyzer {

Finding unwrittenFinding(const UnwrittenResult& unwritten, const FindingContext& context) {
  const ModelAccess& access = *unwritten.access;
  const WitnessThread& thread = unwritten.witness.first;
  Finding finding;
  finding.rule = "uninitialized-read";
  finding.where = access.where;
  finding.accesses = {accessOf(access, thread, context)};
  finding.memory = memoryOf(access, thread, context);
  finding.message = fmt::format("read of `{}`, which nobody has written", exprOf(access, context));
  finding.hint = unwritten.isNeverWritten
                     ? fmt::format("no thread of the kernel gives `{}` a first value", finding.memory->name)
                     : "let the block write all of the array first, in a loop, and then a barrier";
  settleVerdict(finding, unwritten.witness, context, {access.offset, access.condition});
  addValues(finding, unwritten.witness);
  return finding;
}

} // namespace kcheck::analyzer
